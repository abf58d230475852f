"""The URL patterns of the site."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    # Before Django's administration, whose page to sign in they replace.
    path("", include("toolsupport.web.urls")),
    path("", include("toolsupport.gateway.urls")),
    path("admin/", admin.site.urls),
    path("", include("chat.urls")),
]

handler400 = "toolsupport.web.pages.errors.bad_request"
handler403 = "toolsupport.web.pages.errors.forbidden"
handler404 = "toolsupport.web.pages.errors.missing"
handler500 = "toolsupport.web.pages.errors.failed"

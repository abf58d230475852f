"""The URL patterns of the site."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    # First, since they are looked up in this order for every request of a program.
    path("", include("toolsupport.gateway.urls")),
    # Before Django's administration, whose page to sign in they replace.
    path("", include("toolsupport.web.urls")),
    path("admin/", admin.site.urls),
    path("", include("chat.urls")),
]

handler400 = "toolsupport.web.pages.errors.bad_request"
handler403 = "toolsupport.web.pages.errors.forbidden"
handler404 = "toolsupport.web.pages.errors.missing"
handler500 = "toolsupport.web.pages.errors.failed"

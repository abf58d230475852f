"""The addresses of the site."""

from django.contrib import admin
from django.urls import include, path

from toolsupport.gateway.urls import PATHS as GATEWAY
from toolsupport.web.urls import PATHS

urlpatterns = [
    # Ours come first: the administration's own door is one of them.
    *PATHS,
    *GATEWAY,
    path("admin/", admin.site.urls),
    path("", include("chat.urls")),
]

handler400 = "toolsupport.web.pages.errors.bad_request"
handler403 = "toolsupport.web.pages.errors.forbidden"
handler404 = "toolsupport.web.pages.errors.missing"
handler500 = "toolsupport.web.pages.errors.failed"

"""Checks the host of a request, except at the addresses for machines."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware

# A health check and a scraper ask one process, by its own address and past the proxy. The setting
# SECURE_REDIRECT_EXEMPT lets them do so without https.
OF_MACHINES = ("/healthz", "/readyz", "/metrics")


class HostCheck(CommonMiddleware):
    """Django's middleware, which refuses a host that is not in TOOLSUPPORT_ALLOWED_HOSTS."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        return None if request.path in OF_MACHINES else super().process_request(request)

"""Finds the IP address of a request's client."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def address_of(request: HttpRequest) -> str:
    """Return the client's address; behind https the one added last by our proxy, since others may be forged."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.BEHIND_HTTPS else ""
    return forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR") or "unknown"

"""Where a request comes from."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def address_of(request: HttpRequest) -> str:
    """The visitor's address; behind https the one that our proxy wrote down last, since the others may be invented."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.BEHIND_HTTPS else ""
    return forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR") or "unknown"

"""Finds the IP address of a request's client."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from toolsupport.core import client_address


def address_of(request: HttpRequest) -> str:
    """Return the client's address; X-Forwarded-For counts only if one of our proxies sent it.

    Without a declared proxy it counts, on a site with https, from this machine and private networks, and only its last
    entry: a client there could have written the others.
    """
    peer, forwarded = request.META.get("REMOTE_ADDR") or "", request.headers.get("X-Forwarded-For", "")
    declared = settings.ENV["TOOLSUPPORT_TRUSTED_PROXIES"]
    if declared:
        return client_address.client(peer, forwarded, declared)
    undeclared = client_address.PRIVATE if settings.BEHIND_HTTPS else ()
    return client_address.client(peer, forwarded.rpartition(",")[2], undeclared)

"""Rules of sign-in by OpenID Connect: which addresses are asked, and which role and name the claims give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from toolsupport.core.types import JSON

LONGEST_NAME = 150
# What a username of Django may hold.
ODD = re.compile(r"[^\w.@+-]")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def origin(url: str) -> str:
    """Return scheme, host and port of an address that may be asked; "" for any other."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return ""
    if parts.username or parts.password or parts.fragment or not parts.hostname:
        return ""
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}"


def same_origin(url: object, issuer: str) -> bool:
    """Return whether an address of the provider's own description is at the issuer's origin."""
    return isinstance(url, str) and bool(origin(url)) and origin(url) == origin(issuer)


def role_of(claims: JSON, claim: str, roles: Sequence[str]) -> str:
    """Return the highest of `roles` (lowest first) that the claim names, "" for none; `a.b` is the claim b within a."""
    value: Any = claims
    for part in claim.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    named = value if isinstance(value, list) else [value]
    return next((role for role in reversed(roles) if role in named), "")


def name_of(claims: JSON) -> str:
    """Return the username for a new account; "" if no claim has one."""
    for claim in ("preferred_username", "email", "sub"):
        value = claims.get(claim)
        if isinstance(value, str) and (name := ODD.sub("", value)[:LONGEST_NAME]):
            return name
    return ""

"""Rules of sign-in by OpenID Connect: which addresses are asked, and which role and name the claims give."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from toolsupport.core.types import JSON

LONGEST_NAME = 150
# Characters of a username in Django.
ODD = re.compile(r"[^\w.@+-]")
# Characters of an address: no spaces, controls, backslashes or other scripts, which programs read differently.
PLAIN = re.compile(r"[!-\[\]-~]{1,2000}")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def origin(url: str) -> str:
    """Return scheme, host and port of an address that may be asked; "" for any other."""
    if not PLAIN.fullmatch(url):
        return ""
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
    """Return the highest of `roles` (lowest first) that the claim names, "" for none; `a.b` is the claim b within a.

    Names of claims may have dots themselves, as `https://corp.example/roles` has.
    """
    named = [one for value in _at(claims, claim) for one in (value if isinstance(value, list) else [value])]
    return next((role for role in reversed(roles) if role in named), "")


def _at(value: Any, path: str) -> Iterator[Any]:
    """Yield what the path leads to, whichever of its dots belong to names."""
    if not isinstance(value, dict):
        return
    if path in value:
        yield value[path]
    for dot in re.finditer(r"\.", path):
        yield from _at(value.get(path[: dot.start()]), path[dot.end() :])


def name_of(claims: JSON) -> tuple[str, bool]:
    """Return the username for a new account, "" if no claim has one; and whether the provider has it exactly so.

    An address that the provider did not verify may be another person's, so it is no name.
    """
    for claim in ("preferred_username", "email", "sub"):
        value = claims.get(claim)
        if not isinstance(value, str) or (claim == "email" and claims.get("email_verified") is not True):
            continue
        if name := unicodedata.normalize("NFKC", ODD.sub("", unicodedata.normalize("NFKC", value)))[:LONGEST_NAME]:
            return name, name == value
    return "", False

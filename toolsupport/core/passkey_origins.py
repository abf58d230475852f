"""Rules of passkeys: which addresses of a site can have them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
NUMBERS = re.compile(r"[\d.]+|.*:.*")


def site_of(origin: str) -> str:
    """Return the host name that the passkeys of this origin belong to (the RP ID); "" if it can have none."""
    return "" if why_not(origin) else str(urlsplit(origin).hostname)


def why_not(origin: str) -> str:
    """Return why browsers refuse passkeys at this origin, with the remedy; "" if they accept them."""
    try:
        scheme, host = urlsplit(origin).scheme, urlsplit(origin).hostname or ""
    except ValueError:
        scheme, host = "", ""
    if NUMBERS.fullmatch(host):
        return "Passkeys need an address with a host name, and this one has an IP address."
    if host == "localhost" or host.endswith(".localhost"):
        return ""
    if scheme != "https":
        return "Passkeys need https, and this address has none."
    return "" if NAME.fullmatch(host) else "Passkeys need an address with a host name."

"""Checks the addresses of servers: their form, and hosts that must never be contacted."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from toolsupport.core.errors import ConfigError

# Signs that no host has, and that programs read in different ways (`http://a\@b`, `http://a%2fb`).
STRANGE = re.compile(r"[\\%<>\"'{}|^`]")
# Resolvers take these for IPv4 as well: 2852039166, 0xA9FEA9FE and 169.16689662 are all 169.254.169.254.
NUMERIC = re.compile(r"(?:.*\.)?(?:0x[0-9a-f]*|[0-9]+)\.?", re.I)


def checked(text: str, secret: str = "an API key", query: bool = False) -> SplitResult:
    """Parse an http address. `secret` has a field of its own; `query`: the part after ? belongs to the address.

    Raises ConfigError with a message for the author, without any password in the address.
    """
    written = text.strip()
    try:
        url = urlsplit(written)
        _ = url.port
    except ValueError as error:
        raise ConfigError(f"This is not an address: {error}.") from None
    if "@" in (url.netloc or written):
        raise ConfigError(f"Leave names and passwords out of the address; {secret} has a field of its own.")
    if any(sign.isspace() or not sign.isprintable() for sign in written):
        raise ConfigError(f"{written!r} is not an address: it has a space in it.")
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ConfigError(f"{written!r} is not an address: begin with http:// or https://.")
    if STRANGE.search(url.netloc):
        raise ConfigError(f"{written!r} is not an address: its host has a sign that no host has.")
    if url.fragment or (url.query and not query):
        raise ConfigError("Leave out everything after ? or # in the address.")
    check_host(url.hostname)
    return url


def check_host(host: str) -> None:
    """Raise ConfigError for a host written as a forbidden address; names are resolved later."""
    # People copy 0.0.0.0 from a server's log; for a connection it means this machine.
    if host in ("0.0.0.0", "::"):
        return
    try:
        asked = may_be_asked(host)
    except ValueError:
        asked = True
        if NUMERIC.fullmatch(host):
            raise ConfigError(f"Write {host} as four numbers with dots between them.") from None
    if not asked:
        raise ConfigError(f"{host} is never asked.")


def may_be_asked(address: str) -> bool:
    """Return whether a server may have this address (ValueError if malformed); internal networks are allowed.

    Link-local addresses are excluded: machines in a cloud fetch their secrets there.
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    never = parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified
    # In version 6, the address of this machine itself counts as reserved.
    return not (never or (parsed.version == 4 and parsed.is_reserved))

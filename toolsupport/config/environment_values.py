"""Parses the values of environment variables; each function raises ValueError with the expected form."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_network
from urllib.parse import unquote, urlsplit

from toolsupport.core.client_address import Network

USUAL_PORTS = {"http": ":80", "https": ":443"}
SHORTEST_KEY = 32  # characters of a key that encrypts


class ConcealedError(ValueError):
    """A value that must not be repeated cannot be used."""


def text(value: str) -> str:
    return value.strip()


def words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def origins(value: str) -> list[str]:
    """Return origins as browsers send them: in lower case, without a slash at the end or the usual port."""
    return [_origin(word) for word in words(value)]


def _origin(written: str) -> str:
    scheme, mark, host = written.lower().removesuffix("/").partition("://")
    return f"{scheme}{mark}{host.removesuffix(USUAL_PORTS.get(scheme, ''))}"


def secret_keys(value: str) -> list[str]:
    if any(len(word) < SHORTEST_KEY for word in words(value)):
        raise ConcealedError(f"a key can be guessed; use {SHORTEST_KEY} characters or more for each")
    return words(value)


def switch(value: str) -> bool:
    if value.strip().lower() in ("1", "on", "yes", "true"):
        return True
    if value.strip().lower() in ("0", "off", "no", "false", ""):
        return False
    raise ValueError("use 1 or 0")


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return a parser of whole numbers within these bounds; times beyond them could not be computed."""

    def parse(value: str) -> int:
        try:
            found = int(value)
        except ValueError:
            raise ValueError("use a whole number") from None
        if found < least:
            raise ValueError(f"use a whole number of {least} or more")
        if found > most:
            raise ValueError(f"use {most:,} at most")
        return found

    return parse


LARGEST = 2**31 - 1
number, count = whole(0, LARGEST), whole(1, LARGEST)


def networks(value: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(word) for word in words(value))
    except ValueError:
        raise ValueError("use addresses or networks like 192.0.2.7 or 10.0.0.0/8, separated by commas") from None


def one_of(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in choices:
            raise ValueError(f"use one of {', '.join(choices)}")
        return value

    return parse


def passwords(url: str) -> tuple[str, ...]:
    """Return the password in an address, as it is written and as it is used; none for a text that is no address."""
    try:
        written = urlsplit(url).password or ""
    except ValueError:
        return ()
    return (written, unquote(written))

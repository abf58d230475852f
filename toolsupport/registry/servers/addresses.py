"""Parses the addresses of servers from people's input and the environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from toolsupport import providers
from toolsupport.core import name_checks, server_address_rules
from toolsupport.core.errors import ConfigError

OLLAMA_PORT = 11434
_WRONG_ENDINGS = {"ollama": ("/v1", "/api")}  # by wire
_COPIED_ENDINGS = {"openai": "/chat/completions"}  # the ending that people paste; we add it ourselves


@dataclass(frozen=True, slots=True)
class NamedAddress:
    """A server in the notation of the environment."""

    name: str
    kind: str
    base_url: str


def server_url(kind: str, text: str) -> str:
    """Return the base address without a trailing slash. Raises ConfigError with advice."""
    row = providers.provider(kind)
    url = server_address_rules.checked(text)
    path = url.path.rstrip("/")
    if row.wire in _COPIED_ENDINGS:
        path = _without_version(path.removesuffix(_COPIED_ENDINGS[row.wire]))
    for ending in _WRONG_ENDINGS.get(row.wire, ()):
        if path.endswith(ending):
            raise ConfigError(f"Leave out {ending} at the end: this kind of server uses its plain address.")
    return f"{url.scheme}://{url.netloc.lower()}{path}"


def _without_version(path: str) -> str:
    """Remove a plain /v1 at the end, as we add it; after another version (`/v4/…/v1`) it stays."""
    bare = path.removesuffix("/v1")
    return path if providers.VERSIONED.search(bare) else bare


def ollama_host(text: str) -> str:
    """Parse OLLAMA_HOST as Ollama does: scheme and port may be missing, 0.0.0.0 means this machine.

    Raises ConfigError that names the variable.
    """
    scheme, explicit, host_and_rest = text.strip().strip("\"'").rpartition("://")
    try:
        url = urlsplit(f"{scheme or 'http'}://{_bracketed(host_and_rest)}")
        port = url.port or _default_port(url.scheme, bool(explicit))
        host = url.hostname or "127.0.0.1"
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        shown = f"[{host}]" if ":" in host else host
        return server_url("ollama", f"{url.scheme}://{shown}:{port}{url.path}")
    except (ConfigError, ValueError) as error:
        raise ConfigError(f"OLLAMA_HOST={text!r} cannot be used: {error}") from error


def _bracketed(host_and_rest: str) -> str:
    """Put a bare IPv6 address in the brackets that an address with a port needs."""
    host, slash, rest = host_and_rest.partition("/")
    try:
        return f"[{IPv6Address(host)}]{slash}{rest}"
    except ValueError:
        return host_and_rest


def named_servers(entries: Sequence[str]) -> tuple[NamedAddress, ...]:
    """Parse TOOLSUPPORT_SERVERS, already split at its commas. Raises ConfigError that names the entry."""
    found = tuple(_named(entry) for entry in entries)
    names = [server.name for server in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"TOOLSUPPORT_SERVERS names {name!r} twice; give every server a different name.")
    return found


def _named(entry: str) -> NamedAddress:
    name, equals, rest = entry.partition("=")
    kind, plus, url = rest.partition("+")
    if not (name.strip() and equals and kind.strip() and plus and url.strip()):
        raise ConfigError(
            f"TOOLSUPPORT_SERVERS: {entry!r} should read name=kind+url, as in box=ollama+http://box:11434."
        )
    if why := name_checks.problem(name.strip()) or name_checks.path_problem(name.strip()):
        raise ConfigError(f"TOOLSUPPORT_SERVERS: the name {name.strip()!a} {why}.")
    try:
        return NamedAddress(name.strip(), kind.strip(), server_url(kind.strip(), url))
    except ConfigError as error:
        raise ConfigError(f"TOOLSUPPORT_SERVERS: {name.strip()!r} cannot be used. {error}") from error


def _default_port(scheme: str, explicit: bool) -> int:
    if not explicit:
        return OLLAMA_PORT
    return {"http": 80, "https": 443}.get(scheme, OLLAMA_PORT)

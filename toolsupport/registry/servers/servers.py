"""Stores the servers: added, listed, enabled or disabled."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.utils import timezone

from toolsupport import providers
from toolsupport.config import environment
from toolsupport.core import name_checks, server_faults
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.name_order import by_name
from toolsupport.core.server_address_rules import checked_key
from toolsupport.core.types import Endpoint, Limits
from toolsupport.models import ModelProfile, Server
from toolsupport.registry import any_case
from toolsupport.registry.servers import key_encryption, missing_flags
from toolsupport.registry.servers.addresses import NamedAddress, server_url
from toolsupport.registry.servers.missing_flags import MissingFlag
from toolsupport.registry.settings import model_settings

SIMULATOR = "Simulator"
LIMITS = frozenset(field.name for field in fields(Limits))
REMOVED = "The server of this model was removed. Choose another model."


@dataclass(frozen=True, slots=True)
class NewServer:
    """A server to add. `origin` is page, command, environment or built-in; `inside`: it may be in this network."""

    name: str
    kind: str
    base_url: str
    api_key: str = ""
    origin: str = "page"
    inside: bool = True


@dataclass(frozen=True, slots=True)
class ListedServer:
    """A server as the page shows it; `why` gives a problem with advice, `models` counts those present.

    `badge` and `tone` are its state in a word; `again_in` the seconds until the next automatic check, None where it
    is not. `editable`: it is not defined by the environment. `keeps_models`: models are pulled and deleted there.
    `inside`: it may be on this machine or in this network.
    `marks` are its models that get no tools until a setting of the server is changed.
    """

    id: int
    name: str
    kind: str
    title: str
    base_url: str
    inside: bool
    enabled: bool
    simulated: bool
    origin: str
    version: str
    reachable: bool | None
    last_seen_at: datetime | None
    checked_at: datetime | None
    down_since: datetime | None
    why: str
    has_key: bool
    models: int
    badge: str
    tone: str
    again_in: int | None
    editable: bool
    keeps_models: bool
    marks: tuple[MissingFlag, ...] = ()

    @property
    def down(self) -> bool:
        """Whether it is in use and did not answer."""
        return self.enabled and self.reachable is False


@transaction.atomic
def add(server: NewServer) -> int:
    """Return the new row's id; without an address it is the kind's usual one.

    Raises ConfigError for a taken name, an unknown kind or a bad address.
    """
    name = checked_name(server.name)
    url = server_url(server.kind, server.base_url.strip() or providers.provider(server.kind).default_url)
    try:
        with transaction.atomic():
            row = Server.objects.create(
                name=name,
                kind=server.kind,
                base_url=url,
                api_key=key_encryption.encrypt(checked_key(server.api_key)),
                origin=server.origin,
                inside=server.inside,
            )
    except IntegrityError:
        raise ConfigError(f"There is already a server called {name!r}; choose another name.") from None
    return row.pk


def checked_name(text: str, but: int = 0) -> str:
    """Return a name that is free for a server (`but`: the id of the server that may have it). Raises ConfigError."""
    name = text.strip()
    if not name or len(name) > 80 or "/" in name:
        raise ConfigError("A server needs a name of at most 80 characters, without a slash.")
    if why := name_checks.problem(name) or name_checks.path_problem(name):
        raise ConfigError(f"The name of a server cannot be used: it {why}.")
    if Server.objects.filter(any_case.same("name", name)).exclude(pk=but).exists():
        raise ConfigError(f"There is already a server called {name!r}; choose another name.")
    return name


@transaction.atomic
def ensure(server: NewServer) -> int:
    """Add a server of the environment, or update its row. `enabled`, which people set, stays.

    A key in the environment replaces a stored one.
    """
    url = server_url(server.kind, server.base_url)
    row, _ = Server.objects.get_or_create(
        name=server.name, defaults={"kind": server.kind, "base_url": url, "origin": server.origin}
    )
    if (row.kind, row.base_url, row.origin) != (server.kind, url, server.origin):
        row.kind, row.base_url, row.origin = server.kind, url, server.origin
        row.save(update_fields=["kind", "base_url", "origin"])
        missing_flags.server_changed(row.pk)
    key = environment.server_key(settings.ENV, server.name)
    if key and key != _readable_key(row):
        row.api_key = key_encryption.encrypt(key)
        row.save(update_fields=["api_key"])
    return row.pk


def _readable_key(row: Server) -> str:
    try:
        return key_encryption.decrypt(row.api_key)
    except ConfigError:
        return ""


def ensure_simulator(base_url: str) -> int:
    """Return the row of the built-in Simulator, with its current address."""
    return ensure(NewServer(SIMULATOR, "simulator", base_url, origin="built-in"))


def ensure_named(server: NamedAddress) -> int:
    """Return the row of a server that the environment names."""
    return ensure(NewServer(server.name, server.kind, server.base_url, origin="environment"))


@transaction.atomic
def set_enabled(server_id: int, enabled: bool) -> None:
    """Enable or disable a server. Raises NotFound."""
    if not Server.objects.filter(pk=server_id, removed_at=None).update(enabled=enabled):
        raise NotFound("This server does not exist.")


def enabled_ids() -> tuple[int, ...]:
    """Return the servers to query; the Simulator is left out if the environment disables it."""
    rows = Server.objects.filter(enabled=True)
    if settings.ENV["TOOLSUPPORT_SIMULATOR"] == "off":
        rows = rows.exclude(kind="simulator")
    return tuple(rows.order_by("name").values_list("pk", flat=True))


def names() -> frozenset[str]:
    """Return the names of all servers, enabled or not."""
    return frozenset(Server.objects.filter(removed_at=None).values_list("name", flat=True))


def has_url(base_url: str) -> bool:
    """Return True if a server with this address exists, enabled or not; a removed one counts, so it stays removed."""
    return Server.objects.filter(base_url=base_url).exists()


def id_of(name: str) -> int:
    """Return the id of the server of this name. Raises NotFound with a list of the existing names."""
    found = Server.objects.filter(any_case.same("name", name), removed_at=None).values_list("pk", flat=True).first()
    if found is None:
        known = ", ".join(sorted(names(), key=by_name)) or "none yet"
        raise NotFound(f"There is no server called {name!r}. Servers: {known}.")
    return found


def listed() -> tuple[ListedServer, ...]:
    """Return all servers, those in use first, in three queries at most."""
    there = Count("profiles", filter=Q(profiles__gone_since=None))
    rows = Server.objects.filter(removed_at=None).annotate(models=there)
    marks = missing_flags.by_server()
    return tuple(replace(_listed(row, row.models), marks=marks.get(row.pk, ())) for row in sorted(rows, key=_order))


def shown(server_id: int) -> ListedServer:
    """Return one server as the page shows it. Raises NotFound."""
    row = _get(server_id)
    return _listed(row, row.profiles.filter(gone_since=None).count())


def endpoint(server_id: int) -> Endpoint:
    """Return the server's endpoint. Raises NotFound, ConfigError (its key is unreadable)."""
    return endpoint_of(_get(server_id))


def endpoint_of(server: Server, profile: ModelProfile | None = None) -> Endpoint:
    """Return the endpoint with the server's limits, overridden by the profile's (options["timeouts"], in seconds).

    Raises ConfigError if the key cannot be read or the server was removed.
    """
    if server.removed_at is not None:
        raise ConfigError(REMOVED)
    timeouts = server.options.get("timeouts", {}) | (model_settings.limits(profile) if profile else {})
    key = key_encryption.decrypt(server.api_key)
    # Each of several processes uses its own Simulator: another process's may be gone, or on another machine.
    own = settings.SIMULATOR_URL if (server.kind, server.origin) == ("simulator", "built-in") else ""
    inside = bool(own) or server.inside
    limits = Limits(**{name: value for name, value in timeouts.items() if name in LIMITS})
    return Endpoint(server.kind, own or server.base_url, key, limits, inside)


def _get(server_id: int) -> Server:
    row = Server.objects.filter(pk=server_id, removed_at=None).first()
    if row is None:
        raise NotFound("This server does not exist.")
    return row


def _listed(row: Server, models: int) -> ListedServer:
    provider = providers.PROVIDERS.get(row.kind)
    badge, tone = badge_of(row)
    copied = {
        name: getattr(row, name)
        for name in (
            *("id", "name", "kind", "base_url", "inside", "enabled", "simulated", "origin", "version"),
            *("reachable", "last_seen_at", "checked_at", "down_since"),
        )
    }
    return ListedServer(
        **copied,
        title=provider.title if provider else row.kind,
        why=why_down(row) if row.reachable is False else "",
        has_key=bool(row.api_key),
        models=models,
        badge=badge,
        tone=tone,
        again_in=_again_in(row),
        editable=row.origin != "environment" and not row.simulated,
        keeps_models=provider is not None and provider.wire == "ollama",
    )


def down() -> tuple[ListedServer, ...]:
    """Return the servers in use that did not answer, without the counts of their models."""
    rows = Server.objects.filter(enabled=True, reachable=False, removed_at=None)
    return tuple(_listed(row, 0) for row in sorted(rows, key=_order))


def _order(row: Server) -> tuple[bool, tuple[tuple[str, ...], ...]]:
    return not row.enabled, by_name(row.name)


def down_one(row: Server) -> tuple[ListedServer, ...]:
    """Return the server alone if it is in use and did not answer."""
    shown = _listed(row, 0)
    return (shown,) if shown.down and row.removed_at is None else ()


def why_down(row: Server) -> str:
    """Return why a server does not answer, with advice."""
    why, hint = row.last_error or "The server does not answer.", _hint(row)
    return why if hint.rstrip(".") in why else f"{why} {hint}"


def _hint(row: Server) -> str:
    provider = providers.PROVIDERS.get(row.kind)
    if provider is None:
        return "This kind of server no longer exists."
    return server_faults.hint(row.fault) or provider.hint


def badge_of(row: Server) -> tuple[str, str]:
    """Return the state of a server in a word, and the tone of its badge."""
    if not row.enabled:
        return "Switched off", ""
    if row.reachable is None:
        return "Not asked yet", "ask"
    provider = providers.PROVIDERS.get(row.kind)
    title = provider.title if provider else row.kind
    return ("Online", "ok") if row.reachable else server_faults.badge(row.fault, title)


def down_word(row: Server) -> str:
    """Return why a server is down in a word, "" if it is not known to be."""
    return badge_of(row)[0] if row.reachable is False else ""


def _again_in(row: Server) -> int | None:
    if not row.enabled or row.reachable is not False or row.next_check_at is None:
        return None
    return max(0, round((row.next_check_at - timezone.now()).total_seconds()))

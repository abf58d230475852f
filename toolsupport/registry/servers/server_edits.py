"""Changes that an administrator makes to a model server: its name, address, key and kind, and its removal."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.utils import timezone

from toolsupport import providers
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.server_address_rules import checked_key
from toolsupport.models import Server
from toolsupport.registry.people import audit_log
from toolsupport.registry.servers import key_encryption, missing_flags, reachability, servers
from toolsupport.registry.servers.addresses import server_url
from toolsupport.registry.servers.servers import NewServer, checked_name

BY_ENVIRONMENT = "The environment of this site defines this server. Change it there, and restart the site."
OTHER_HOST = "The stored API key belongs to the old address. Enter a key for the new one, or remove the stored key."
LONGEST_NAME = 80
# The choice of an administrator, by whether the server may be on this machine or in this network.
NETWORK = {True: "may be inside this network", False: "only outside this network"}


@dataclass(frozen=True, slots=True)
class ServerChange:
    """The new fields of a server. An empty `api_key` keeps the stored one, unless it is to be removed."""

    name: str
    kind: str
    base_url: str
    api_key: str = ""
    remove_key: bool = False
    inside: bool = True


@transaction.atomic
def add(server: NewServer, actor: int) -> int:
    """Add a server for an administrator; return its id. Raises ConfigError."""
    server_id = servers.add(server)
    row = Server.objects.get(pk=server_id)
    audit_log.write(actor, "add_server", subject(row.pk), f"Added {row.name} ({row.base_url}), {NETWORK[row.inside]}.")
    return server_id


@transaction.atomic
def edit(server_id: int, change: ServerChange, actor: int) -> None:
    """Store the change; the server's status is unknown then. Raises NotFound, ConfigError with a sentence."""
    row = editable(server_id)
    name = checked_name(change.name, but=server_id)
    url = server_url(change.kind, change.base_url.strip() or providers.provider(change.kind).default_url)
    # A key is write-only: with another address it would be sent to a different server.
    if row.api_key and _host(url) != _host(row.base_url) and not (change.api_key or change.remove_key):
        raise ConfigError(OTHER_HOST)
    changed = [
        *(["name"] if name != row.name else []),
        *(["kind"] if change.kind != row.kind else []),
        *(["address"] if url != row.base_url else []),
        *(["API key"] if change.api_key or (change.remove_key and row.api_key) else []),
        *([f"network ({NETWORK[change.inside]})"] if change.inside != row.inside else []),
    ]
    row.name, row.kind, row.base_url, row.inside = name, change.kind, url, change.inside
    if change.api_key or change.remove_key:
        row.api_key = key_encryption.encrypt(checked_key(change.api_key))
    row.reachable, row.down_since, row.last_error, row.fault = None, None, "", ""
    row.failures, row.next_check_at = 0, None
    _save(row)
    missing_flags.server_changed(row.pk)
    if changed:
        audit_log.write(actor, "edit_server", subject(row.pk), f"{row.name}: changed {', '.join(changed)}.")


@transaction.atomic
def remove(server_id: int, actor: int) -> str:
    """Remove a server, whose evidence stays; return its name, which is free again. Raises as `edit` does."""
    row = editable(server_id)
    name = row.name
    audit_log.write(actor, "remove_server", subject(row.pk), f"Removed {name} ({row.base_url}).")
    row.enabled, row.removed_at, row.api_key = False, timezone.now(), ""
    row.next_check_at = None
    # Rows of the history name their server: the new name shows the removal, and frees the old name.
    ending = f" (removed {row.pk})"
    row.name = name[: LONGEST_NAME - len(ending)] + ending
    row.save(update_fields=["enabled", "removed_at", "api_key", "next_check_at", "name"])
    return name


def editable(server_id: int) -> Server:
    """Return the row, locked. Raises NotFound, ConfigError if the environment defines the server."""
    row = Server.objects.select_for_update().filter(pk=server_id, removed_at=None).first()
    if row is None:
        raise NotFound("This server does not exist.")
    if row.origin == "environment" or row.simulated:
        raise ConfigError(BY_ENVIRONMENT)
    return row


def subject(server_id: int) -> str:
    """Return the name of a server in the audit log."""
    return f"server {server_id}"


def _save(row: Server) -> None:
    try:
        with transaction.atomic():
            row.save(update_fields=["name", "kind", "base_url", "inside", "api_key", *reachability.STATUS])
    except IntegrityError:
        raise ConfigError(f"There is already a server called {row.name!r}; choose another name.") from None


def _host(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc

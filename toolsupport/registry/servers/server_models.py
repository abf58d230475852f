"""The models of one server, for the administrators who pull and delete them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from toolsupport.core.name_order import by_name
from toolsupport.models import ModelProfile
from toolsupport.registry.people import audit_log
from toolsupport.registry.servers import reachability
from toolsupport.registry.servers.pulls import ollama_server, size
from toolsupport.registry.servers.server_edits import subject


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model on the disk of its server."""

    id: int
    name: str
    size: str
    loaded: bool


def stored(server_id: int) -> tuple[StoredModel, ...]:
    """Return the models that the server listed last, by name."""
    rows = ModelProfile.objects.filter(server_id=server_id, gone_since=None)
    return tuple(
        StoredModel(row.pk, row.name, size(row.size_bytes) if row.size_bytes else "", row.loaded)
        for row in sorted(rows, key=lambda row: by_name(row.name))
    )


@transaction.atomic
def deleted(server_id: int, name: str, actor: int) -> None:
    """Store that an administrator deleted a model from its server; its evidence stays."""
    server = ollama_server(server_id)
    for pk in ModelProfile.objects.filter(server=server, name=name).values_list("pk", flat=True):
        reachability.model_missing(pk)
    audit_log.write(actor, "delete_model", subject(server_id), f"Deleted {name[:200]} from {server.name}.")


@transaction.atomic
def unloaded(server_id: int, name: str, actor: int) -> None:
    """Store that an administrator unloaded a model."""
    server = ollama_server(server_id)
    ModelProfile.objects.filter(server=server, name=name).update(loaded=False)
    audit_log.write(actor, "unload_model", subject(server_id), f"Unloaded {name[:200]} on {server.name}.")

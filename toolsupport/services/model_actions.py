"""Deletes and unloads models of Ollama servers, and lists those in memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from channels.db import database_sync_to_async as in_database
from django.utils import timezone

from toolsupport import providers
from toolsupport.core.errors import ConfigError, ProviderError
from toolsupport.providers import RunningModel
from toolsupport.registry.servers import pulls, server_models, servers

FOR_EVER = timedelta(days=365)  # Ollama gives a time centuries away for a model that stays


@dataclass(frozen=True, slots=True)
class ModelInMemory:
    """A model in a server's memory; `words` are its memory, its context and how long it stays."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class ModelsInMemory:
    """The models in a server's memory; `why` is the reason why they are unknown, or ""."""

    models: tuple[ModelInMemory, ...] = ()
    why: str = ""


async def running(server_id: int) -> ModelsInMemory:
    """Ask the server which models are in its memory. A failure is returned, never raised."""
    try:
        found = await providers.running(await in_database(servers.endpoint)(server_id))
        return ModelsInMemory(tuple(ModelInMemory(model.name, words(model, timezone.now())) for model in found))
    except (ProviderError, ConfigError) as error:
        return ModelsInMemory(why=str(error))


def words(model: RunningModel, now: datetime) -> str:
    """Return the memory a model takes, its context and how long it stays."""
    parts = [pulls.size(model.size)]
    if model.on_gpu:
        parts.append(
            "all on graphics cards" if model.on_gpu >= model.size else f"{pulls.size(model.on_gpu)} on graphics cards"
        )
    if model.context:
        parts.append(f"context {model.context:,}")
    return " · ".join([*parts, _stays(model.until, now)] if model.until else parts)


def _stays(until: datetime, now: datetime) -> str:
    left = (until if until.tzinfo else until.replace(tzinfo=UTC)) - now
    if left > FOR_EVER:
        return "stays until it is unloaded"
    seconds = max(0, round(left.total_seconds()))
    return f"unloaded in {seconds} s" if seconds < 90 else f"unloaded in {round(seconds / 60)} min"


async def delete(server_id: int, name: str, actor: int) -> str:
    """Delete a model; return the result in a sentence. Raises NotFound, ConfigError, ProviderError."""
    await in_database(pulls.ollama_server)(server_id)
    await providers.delete(await in_database(servers.endpoint)(server_id), name)
    await in_database(server_models.deleted)(server_id, name, actor)
    return f"{name} was deleted from the server. Its tests and history were kept."


async def unload(server_id: int, name: str, actor: int) -> str:
    """Unload a model; return the result in a sentence. Raises NotFound, ConfigError, ProviderError."""
    await in_database(pulls.ollama_server)(server_id)
    await providers.unload(await in_database(servers.endpoint)(server_id), name)
    await in_database(server_models.unloaded)(server_id, name, actor)
    return f"{name} was unloaded. The next request loads it again."


async def pull(server_id: int, name: str, actor: int) -> str:
    """Queue a download; return the result in a sentence. Raises NotFound, ConfigError."""
    await in_database(pulls.request)(server_id, name, actor)
    return ""


async def cancel(server_id: int, name: str, actor: int) -> str:
    """Stop a download; return the result in a sentence."""
    await in_database(pulls.cancel)(server_id, name, actor)
    return ""

"""Computes embeddings with the configured model; each text is requested once."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Sequence

from channels.db import database_sync_to_async
from django.conf import settings

from toolsupport import providers
from toolsupport.core.errors import ConfigError, NotFound, ProviderError
from toolsupport.core.types import Endpoint
from toolsupport.registry.servers import servers

log = logging.getLogger(__name__)

KEPT = 20_000
AT_ONCE = 32
# Seconds without requests after a failure, so that searches do not wait for it repeatedly.
PATIENCE = 60.0
# A person waits for the search, however many texts are new: finished vectors are kept for the next one.
LONGEST = 6.0
Vector = list[float]

_known: OrderedDict[str, Vector] = OrderedDict()
_failed: dict[str, float] = {}


async def vectors(texts: Sequence[str]) -> list[Vector] | None:
    """Return the vectors of texts; None without a configured model, or if its server fails."""
    name = settings.ENV["TOOLSUPPORT_EMBED_MODEL"]
    if not name or not texts or time.monotonic() < _failed.get(name, 0.0):
        return None
    keys = [_key(name, text) for text in texts]
    # Copied now: the cache may drop them while the others are requested.
    known = {key: _known[key] for key in keys if key in _known}
    wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    try:
        async with asyncio.timeout(LONGEST):
            found = await _asked(name, wanted) if wanted else {}
    except (ProviderError, ConfigError, NotFound, TimeoutError) as error:
        _failed[name] = time.monotonic() + PATIENCE
        log.warning("no embeddings from %s: %s", name, str(error) or "not all of them in time")
        return None
    complete = known | found
    _keep(complete)
    return [complete[key] for key in keys]


def forget() -> None:
    """Clear the cached vectors and the note of a failed server."""
    _known.clear()
    _failed.clear()


async def _asked(name: str, texts: dict[str, str]) -> dict[str, Vector]:
    """Request vectors in batches and return them by key. Raises ProviderError, ConfigError, NotFound."""
    server, _, model = name.partition("/")
    endpoint = await database_sync_to_async(_endpoint)(server)
    keys, found = list(texts), dict[str, Vector]()
    for start in range(0, len(keys), AT_ONCE):
        portion = keys[start : start + AT_ONCE]
        given = await providers.embed(endpoint, model, [texts[key] for key in portion])
        found |= dict(zip(portion, given, strict=True))
        _keep(found)  # a later batch may fail; this one need not be requested again
    return found


def _endpoint(server: str) -> Endpoint:
    return servers.endpoint(servers.id_of(server))


def _keep(found: dict[str, Vector]) -> None:
    for key, vector in found.items():
        _known[key] = vector
        _known.move_to_end(key)
    while len(_known) > KEPT:
        _known.popitem(last=False)


def _key(name: str, text: str) -> str:
    return hashlib.sha256(f"{name}\x1f{text}".encode(errors="replace")).hexdigest()

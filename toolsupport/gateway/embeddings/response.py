"""Answers a request for embeddings, within the limits of all answers."""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Sequence

from channels.db import database_sync_to_async as in_database

from toolsupport import providers
from toolsupport.core.errors import NotFound, ProviderError
from toolsupport.core.events import Failed
from toolsupport.core.types import JSON, Endpoint
from toolsupport.gateway import answer_runner
from toolsupport.gateway.answer_runner import places
from toolsupport.gateway.embeddings import shapes
from toolsupport.gateway.embeddings.request import EmbeddingRequest
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.request_preparation import Caller
from toolsupport.providers.embeddings import EmbeddingReply
from toolsupport.registry.models import api_catalogue, picker, profile_cache
from toolsupport.registry.people import quotas
from toolsupport.registry.people.quotas import QuotaHolder
from toolsupport.registry.servers import servers

TEXTS_ONLY = "This server reads texts only. Send texts, not tokens."


async def answer(asked: EmbeddingRequest, caller: Caller) -> tuple[str, JSON | Failed]:
    """Return the model's full name and the answer or its failure.

    Raises NotFound (the model), InvalidField, ConfigError (the server's key), Busy, QuotaSpent.
    """
    (name, model, endpoint), limited = await in_database(_prepared)(asked, caller)
    places.take(caller)
    counted, used, failed = None, asked.estimated, False
    try:
        counted = await answer_runner.spend(limited)
        reply = await providers.embed_inputs(endpoint, model, asked.inputs, asked.dimensions)
        used = used if reply.tokens is None else reply.tokens
    except ProviderError as error:
        used, failed = 0, True
        return name, Failed(error.kind, str(error), error.status, error.body)
    finally:
        places.leave(caller)
        await answer_runner.to_end(answer_runner.settle(counted, used, given_back=failed))
    return name, written(name, reply, base64=asked.base64)


def written(name: str, reply: EmbeddingReply, *, base64: bool) -> JSON:
    """Return the answer as OpenAI writes it; `usage` is null where the server counts nothing."""
    data = [
        shapes.VECTOR(index=number, embedding=_packed(vector) if base64 else vector)
        for number, vector in enumerate(reply.vectors)
    ]
    tokens = reply.tokens
    usage = None if tokens is None else shapes.USAGE(prompt_tokens=tokens, total_tokens=tokens)
    return shapes.ANSWER(data=data, model=name, usage=usage)


def _packed(vector: Sequence[float]) -> str:
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _prepared(asked: EmbeddingRequest, caller: Caller) -> tuple[tuple[str, str, Endpoint], tuple[QuotaHolder, ...]]:
    return _found(asked), quotas.limited(caller.person, caller.key)


def _found(asked: EmbeddingRequest) -> tuple[str, str, Endpoint]:
    """Return the full name of the model, its name at its server, and the server."""
    profile = picker.find(asked.model)
    row = profile_cache.profile(profile)
    if row is None:
        raise NotFound("This model does not exist.")
    if asked.tokens and providers.provider(row.server.kind).wire == "ollama":
        raise InvalidField(TEXTS_ONLY, "input")
    return api_catalogue.full_name(profile), row.name, servers.endpoint_of(row.server, row)

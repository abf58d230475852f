"""Ollama's endpoints for embeddings: the same text has the same vector, and shared words bring texts closer."""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any

from toolsupport.simulator import go_json_writer
from toolsupport.simulator.client_connection import Client
from toolsupport.simulator.go_types import GoStruct
from toolsupport.simulator.http11 import ReceivedRequest, Response
from toolsupport.simulator.models import SimulatedModel
from toolsupport.simulator.schemas import EMBED, OPENAI_EMBED
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.types import JSON
from toolsupport.simulator.wire.ollama_chat import RequestRejected, body, error, model_of
from toolsupport.simulator.wire.openai_chat import JSON_TYPE
from toolsupport.simulator.wire.openai_chat import error as openai_error

LENGTH = 64
WORD = re.compile(r"\w+")


def vector(text: str, length: int = LENGTH) -> list[float]:
    """Return the vector of a text, of length 1: each word adds to one component."""
    counts = [0.0] * length
    for word in WORD.findall(text.lower()) or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        counts[int.from_bytes(digest[:4], "big") % length] += 1.0
    size = math.sqrt(sum(count * count for count in counts))
    return [round(count / size, 6) for count in counts]


async def native(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """POST /api/embed."""
    try:
        model, texts, length = _asked(state, request.body, EMBED)
    except RequestRejected as refused:
        return error(refused)
    answer = {"model": model.name, "embeddings": [vector(text, length) for text in texts]}
    return Response(go_json_writer.encode({**answer, "prompt_eval_count": _tokens(texts)}))


async def openai(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """POST /v1/embeddings."""
    try:
        model, texts, length = _asked(state, request.body, OPENAI_EMBED)
    except RequestRejected as refused:
        return openai_error(str(refused), refused.status, "api_error")
    data = [
        {"object": "embedding", "embedding": vector(text, length), "index": number} for number, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": _tokens(texts), "total_tokens": _tokens(texts)}
    answer: JSON = {"object": "list", "data": data, "model": model.name, "usage": usage}
    return Response(go_json_writer.encode(answer) + b"\n", content_type=JSON_TYPE)


def _asked(state: SimulatorState, data: bytes, kind: GoStruct) -> tuple[SimulatedModel, list[str], int]:
    """Return the model, the texts and the length of a vector. Raises RequestRejected."""
    given = body(data, kind)
    model = model_of(given.get("model") or "", state.deleted)
    if model.chats:
        raise RequestRejected("this model does not support embeddings")
    return model, _texts(given.get("input")), min(int(given.get("dimensions") or LENGTH), LENGTH)


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise RequestRejected("invalid input type")
    return texts


def _tokens(texts: list[str]) -> int:
    return sum(len(WORD.findall(text)) for text in texts)

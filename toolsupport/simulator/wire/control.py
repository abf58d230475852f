"""The endpoints that change a model: Ollama's pull, and a control endpoint of the simulator."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncGenerator

from toolsupport.simulator import go_json_writer
from toolsupport.simulator.client_connection import Client
from toolsupport.simulator.http11 import ReceivedRequest, Response, StreamedResponse
from toolsupport.simulator.models import MODELS, SimulatedModel
from toolsupport.simulator.schemas import DELETE, PULL
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.types import JSON
from toolsupport.simulator.wire.ollama_chat import NDJSON, RequestRejected, body, error, model_of, ndjson

PIECES = 20  # pieces of a download
PIECE_TOKENS = 20  # a piece takes as long as this many tokens
NO_MANIFEST = "pull model manifest: file does not exist"


async def drift(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """POST /simulator/drift: create new builds of the models that drift. Only for clients on this machine."""
    address = client.writer.get_extra_info("peername")[0]
    if not ipaddress.ip_address(address).is_loopback:
        return error(RequestRejected("only from this machine", 403))
    built = [state.drift(model) for model in MODELS.values() if model.drifts]
    return Response(
        go_json_writer.encode({"models": [{"name": model.name, "digest": model.digest} for model in built]})
    )


async def pull(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response | StreamedResponse:
    """POST /api/pull: a deleted model is downloaded, one that drifts gets another build, others stay the same."""
    try:
        given = body(request.body, PULL)
        model = _known(state, given.get("model") or given.get("name") or "")
    except RequestRejected as refused:
        return error(refused)
    lines = _pulled(state, model) if model else _unknown()
    if given.get("stream") is False:
        last = [line async for line in lines][-1]
        return Response(go_json_writer.encode(last), 500 if "error" in last else 200)
    return StreamedResponse(ndjson(lines), NDJSON)


async def delete(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """DELETE /api/delete: the model is gone until it is pulled again."""
    try:
        given = body(request.body, DELETE)
        model = model_of(given.get("model") or given.get("name") or "", state.deleted)
    except RequestRejected as refused:
        return error(refused)
    state.memory.unload(model.name)
    state.deleted.add(model.name)
    return Response(b"")


def _known(state: SimulatorState, name: str) -> SimulatedModel | None:
    """Return the model, None for an unknown one. Raises RequestRejected without a name."""
    try:
        return state.drift(model_of(name))
    except RequestRejected as refused:
        if refused.status != 404:
            raise
        return None


async def _unknown() -> AsyncGenerator[JSON, None]:
    """Ollama reports within the stream that the registry has no such model."""
    yield {"status": "pulling manifest"}
    yield {"error": NO_MANIFEST}


async def _pulled(state: SimulatorState, model: SimulatedModel) -> AsyncGenerator[JSON, None]:
    """A download continues where it was cut off; a layer that exists already is reported once, as complete."""
    layer = {"status": f"pulling {model.digest[:12]}", "digest": f"sha256:{model.digest}", "total": model.size}
    yield {"status": "pulling manifest"}
    if model.name in state.deleted:
        step = max(1, model.size // PIECES)
        for done in range(state.pulled.get(model.name, 0), model.size, step):
            state.pulled[model.name] = done
            yield {**layer, "completed": done} if done else layer
            await asyncio.sleep(state.pace * PIECE_TOKENS)
        state.pulled.pop(model.name, None)
    yield {**layer, "completed": model.size}
    for words in ("verifying sha256 digest", "writing manifest"):
        yield {"status": words}
    state.deleted.discard(model.name)
    yield {"status": "success"}

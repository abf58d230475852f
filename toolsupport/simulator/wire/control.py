"""The endpoints that change a model: Ollama's pull, and a control endpoint of the simulator."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator

from toolsupport.simulator import gojson
from toolsupport.simulator.client import Client
from toolsupport.simulator.http11 import ReceivedRequest, Response, StreamedResponse
from toolsupport.simulator.models import MODELS
from toolsupport.simulator.schemas import PULL
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.types import JSON
from toolsupport.simulator.wire.native import NDJSON, RequestRejected, body, error, model_of

NO_MANIFEST = "pull model manifest: file does not exist"


async def drift(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """POST /simulator/drift: create new builds of the models that drift. Only for clients on this machine."""
    address = client.writer.get_extra_info("peername")[0]
    if not ipaddress.ip_address(address).is_loopback:
        return error(RequestRejected("only from this machine", 403))
    built = [state.drift(model) for model in MODELS.values() if model.drifts]
    return Response(gojson.encode({"models": [{"name": model.name, "digest": model.digest} for model in built]}))


async def pull(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response | StreamedResponse:
    """POST /api/pull: a model that drifts gets another build, others stay the same."""
    try:
        given = body(request.body, PULL)
        lines = _pulled(state, given.get("model") or given.get("name") or "")
    except RequestRejected as refused:
        return error(refused)
    if given.get("stream") is False:
        return Response(gojson.encode(lines[-1]), 500 if "error" in lines[-1] else 200)
    return StreamedResponse(_stream(lines), NDJSON)


def _pulled(state: SimulatorState, name: str) -> list[JSON]:
    """Yield the lines of a pull.

    Ollama reports an unknown model within the stream. Raises RequestRejected without a name.
    """
    try:
        model = state.drift(model_of(name))
    except RequestRejected as refused:
        if refused.status != 404:
            raise
        return [{"status": "pulling manifest"}, {"error": NO_MANIFEST}]
    layer = {"digest": f"sha256:{model.digest}", "total": model.size, "completed": model.size}
    steps = [{"status": f"pulling {model.digest[:12]}", **layer}]
    steps += [{"status": words} for words in ("verifying sha256 digest", "writing manifest", "success")]
    return [{"status": "pulling manifest"}, *steps]


async def _stream(lines: list[JSON]) -> AsyncGenerator[bytes, None]:
    for line in lines:
        yield gojson.encode(line) + b"\n"

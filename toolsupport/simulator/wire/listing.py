"""The endpoints that list models."""

from __future__ import annotations

import math
import time

from toolsupport.simulator import go_json_writer
from toolsupport.simulator.client_connection import Client
from toolsupport.simulator.http11 import PLAIN, ReceivedRequest, Response
from toolsupport.simulator.models import FAMILY, MODELS, SimulatedModel
from toolsupport.simulator.schemas import SHOW
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.types import JSON
from toolsupport.simulator.wire.ollama_chat import RequestRejected, body, error, model_of
from toolsupport.simulator.wire.openai_chat import JSON_TYPE
from toolsupport.simulator.wire.openai_chat import error as openai_error

VERSION = "0.13.0"
SECOND = 1_000_000_000
# A century stands for "for ever".
FOREVER = 100 * 365 * 86400.0
LICENSE = "A rule-based simulation, made to try tool calling out. It is no language model."


def details(model: SimulatedModel) -> JSON:
    return {
        "parent_model": "",
        "format": FAMILY,
        "family": FAMILY,
        "families": [FAMILY],
        "parameter_size": "0B",
        "quantization_level": "none",
    }


async def alive(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """GET /."""
    return Response(b"Ollama is running", content_type=PLAIN)


async def version(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """GET /api/version."""
    return Response(go_json_writer.encode({"version": VERSION}))


async def tags(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """GET /api/tags."""
    return Response(go_json_writer.encode({"models": [_tag(state.build(model)) for model in state.stored()]}))


def _tag(model: SimulatedModel) -> JSON:
    names = {"name": f"{model.name}:latest", "model": f"{model.name}:latest"}
    made = {"modified_at": model.modified_at, "size": model.size, "digest": model.digest}
    return {**names, **made, "details": details(model)}


async def loaded(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """GET /api/ps."""
    present = sorted(state.memory.present().items(), key=lambda item: -item[1][1])
    return Response(
        go_json_writer.encode({"models": [_loaded(state.build(MODELS[name]), *there) for name, there in present]})
    )


def _loaded(model: SimulatedModel, context: int, seconds: float) -> JSON:
    stays = FOREVER if math.isinf(seconds) else seconds
    names = {"name": f"{model.name}:latest", "model": f"{model.name}:latest"}
    return {
        **names,
        "size": model.size,
        "digest": model.digest,
        "details": details(model),
        "expires_at": go_json_writer.timestamp(time.time_ns() + int(stays * SECOND)),
        "size_vram": 0,
        "context_length": context,
    }


async def show(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """POST /api/show."""
    try:
        given = body(request.body, SHOW)
        model = model_of(given.get("model") or given.get("name") or "", state.deleted)
    except RequestRejected as refused:
        return error(refused)
    return Response(go_json_writer.encode(_shown(state.build(model))))


def _shown(model: SimulatedModel) -> JSON:
    info = {f"{FAMILY}.context_length": model.context, "general.architecture": FAMILY, "general.parameter_count": 0}
    shown = {
        "license": LICENSE,
        "modelfile": f"# {model.about}\nFROM {model.name}:latest\n",
        "template": model.template,
        "details": details(model),
        "model_info": go_json_writer.as_map(info),
    }
    # Servers before 0.6.4 omit the key, whatever the model can do.
    known = {} if model.capabilities is None else {"capabilities": list(model.capabilities)}
    return {**shown, **known, "modified_at": model.modified_at}


def _openai_model(model: SimulatedModel, name: str) -> JSON:
    return {"id": name, "object": "model", "created": model.modified // SECOND, "owned_by": "library"}


async def openai_models(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """GET /v1/models."""
    data = [_openai_model(model, f"{model.name}:latest") for model in state.stored()]
    return Response(go_json_writer.encode({"object": "list", "data": data}) + b"\n", content_type=JSON_TYPE)


async def openai_model(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """GET /v1/models/NAME."""
    name = request.path.removeprefix("/v1/models/")
    try:
        model = model_of(name, state.deleted)
    except RequestRejected as refused:
        return openai_error(str(refused), refused.status, "api_error")
    return Response(go_json_writer.encode(_openai_model(model, name)) + b"\n", content_type=JSON_TYPE)

"""Ollama's native chat endpoint."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from toolsupport.simulator import duration, go_json_parser, go_json_writer
from toolsupport.simulator.client_connection import Client
from toolsupport.simulator.fitting import response_format
from toolsupport.simulator.fitting.response_format import SchemaSupport
from toolsupport.simulator.go_json_parser import Malformed
from toolsupport.simulator.go_types import GoPath, GoStruct
from toolsupport.simulator.http11 import ReceivedRequest, Response, StreamedResponse
from toolsupport.simulator.loaded_models import CONTEXT
from toolsupport.simulator.models import SimulatedModel, ToolsRefusal, find, is_name, render
from toolsupport.simulator.schemas import NATIVE, OPTIONS
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.types import JSON, HistoryMessage, ModelInput, OfferedTool, SimulatedCall
from toolsupport.simulator.wire import window
from toolsupport.simulator.wire.ollama_stream import ChatRequest, ReplyStreamer, chunk, collect, load

NDJSON = "application/x-ndjson"


# Ollama's message when a model and its context do not fit into memory.
TOO_LARGE = "model requires more system memory ({:.1f} GiB) than is available ({:.1f} GiB)"
TOKENS_PER_GIB = 2048
# DeepSeek's message for `response_format` with a schema, and Ollama's for a format it does not know.
NO_SCHEMAS = "This response_format type is unavailable now"
BAD_FORMAT = 'invalid format: {}; expected "json" or a valid JSON Schema object'


class RequestRejected(Exception):
    """A rejected request: the text goes into `error`; `kind` and `code` are for OpenAI's envelope."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status
        self.kind = "api_error"
        self.code: int | str | None = None


def refused_schema() -> RequestRejected:
    refused = RequestRejected(NO_SCHEMAS)
    refused.kind = refused.code = "invalid_request_error"
    return refused


def refused_tools(model: SimulatedModel, refusal: ToolsRefusal) -> RequestRejected:
    refused = RequestRejected(refusal.text.format(model.name))
    refused.kind, refused.code = refusal.kind, refusal.code
    return refused


def error(refused: RequestRejected) -> Response:
    return Response(go_json_writer.encode({"error": str(refused)}), refused.status)


def body(data: bytes, kind: GoStruct) -> JSON:
    """Return the object in a request's body. Raises RequestRejected with Go's message."""
    try:
        value = go_json_parser.decode(data)
    except Malformed as malformed:
        raise RequestRejected("missing request body" if str(malformed) == "EOF" else str(malformed)) from None
    fault = kind.fault(value, GoPath())
    if fault:
        raise RequestRejected(fault)
    return value or {}


def model_of(name: str, deleted: Collection[str] = ()) -> SimulatedModel:
    """Return the model. Raises RequestRejected if there is none of that name."""
    if not is_name(name):
        raise RequestRejected("model is required")
    model = find(name)
    if model is None or model.name in deleted:
        raise RequestRejected(f"model '{name}' not found", 404)
    return model


def tool(value: Any) -> OfferedTool:
    function = (value or {}).get("function") or {}
    return OfferedTool(function.get("name") or "", function.get("description") or "", function.get("parameters") or {})


def response(value: Any) -> HistoryMessage:
    message = value or {}
    functions = [(call or {}).get("function") or {} for call in message.get("tool_calls") or []]
    calls = tuple(SimulatedCall(function.get("name") or "", function.get("arguments") or {}) for function in functions)
    role = (message.get("role") or "").lower()
    images = tuple(b64decode(image) for image in message.get("images") or [])
    return HistoryMessage(role, message.get("content") or "", calls, message.get("tool_name") or "", images)


def chat_request(data: bytes) -> ChatRequest:
    """Return the parsed request. Raises RequestRejected."""
    given = body(data, NATIVE)
    messages = tuple(response(message) for message in given.get("messages") or [])
    return ChatRequest(
        model=given.get("model") or "",
        prompt=ModelInput(messages, tuple(tool(item) for item in given.get("tools") or [])),
        stream=given.get("stream") is not False,
        think=given.get("think"),
        options=given.get("options") or {},
        keep_alive=duration.seconds(given.get("keep_alive")),
        render_only=bool(given.get("_debug_render_only")),
        schema=schema_of(given.get("format")),
    )


def schema_of(demanded: Any) -> JSON | None:
    """Return the schema that a request demands. Raises RequestRejected for a format that Ollama does not know."""
    try:
        return response_format.of_native(demanded)
    except ValueError:
        raise RequestRejected(BAD_FORMAT.format(go_json_writer.text(go_json_writer.text(demanded)))) from None


def admit(request: ChatRequest, deleted: Collection[str] = ()) -> tuple[SimulatedModel, ChatRequest]:
    """Return the model and the request as it reaches the model. Raises RequestRejected if the server refuses."""
    model = model_of(request.model, deleted)
    if not model.chats:
        raise RequestRejected(f"{go_json_writer.text(request.model)} does not support chat")
    if request.think and not model.thinks:
        raise RequestRejected(f"{go_json_writer.text(request.model)} does not support thinking")
    if request.prompt.tools and model.refusal:
        raise refused_tools(model, model.refusal)
    if request.schema is not None and model.schemas == SchemaSupport.REFUSED:
        raise refused_schema()
    for name, value in request.options.items():
        if name in OPTIONS and OPTIONS[name].fault(value, GoPath()):
            raise RequestRejected(f'option "{name}" must be of type {OPTIONS[name].go}', 500)
    # A model that can think does so unless thinking is off.
    think = model.thinks and request.think is not False
    tools = request.prompt.tools if model.reads_tools else ()
    held = request.schema if model.enforces(request.schema) else None
    seen = replace(request, prompt=ModelInput(request.prompt.messages, tools, think, held))
    return model, window.cut(seen) if model.truncates else seen


def check_memory(model: SimulatedModel, request: ChatRequest) -> None:
    """Raise RequestRejected if the model does not load with a context this large."""
    context = request.whole("num_ctx", CONTEXT)
    if context > model.holds > 0:
        raise RequestRejected(TOO_LARGE.format(context / TOKENS_PER_GIB, model.holds / TOKENS_PER_GIB), 500)


async def reply_chunks(
    state: SimulatorState, client: Client, request: ChatRequest
) -> JSON | AsyncGenerator[JSON, None]:
    """Return one complete chunk, or the chunks in a stream. Raises RequestRejected."""
    if not request.prompt.messages and request.keep_alive == 0:
        state.memory.unload(model_of(request.model, state.deleted).name)
        return chunk(request.model, {}, done=True, done_reason="unload")
    model, request = admit(request, state.deleted)
    check_memory(model, request)
    clock = await load(state, client, request, model)
    if not request.prompt.messages:
        state.memory.keep(model.name, request.keep_alive)
        return chunk(request.model, {}, done=True, done_reason="load")
    if request.render_only:
        rendered = {"rendered_template": render(request.prompt)}
        return {**chunk(request.model, {"role": ""}), "_debug_info": rendered}
    chunks = ReplyStreamer(state, client, request, model, clock).reply_chunks()
    return chunks if request.stream else await collect(chunks)


async def chat(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response | StreamedResponse:
    """POST /api/chat."""
    try:
        answer = await reply_chunks(state, client, chat_request(request.body))
    except RequestRejected as refused:
        return error(refused)
    if isinstance(answer, AsyncGenerator):
        return StreamedResponse(ndjson(answer), NDJSON)
    return Response(go_json_writer.encode(answer), 500 if "error" in answer else 200)


async def ndjson(chunks: AsyncGenerator[JSON, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(chunks):
        async for piece in chunks:
            yield go_json_writer.encode(piece) + b"\n"


async def generate(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response:
    """POST /api/generate, which no simulated model supports."""
    try:
        name = body(request.body, NATIVE).get("model") or ""
        model_of(name)
    except RequestRejected as refused:
        return error(refused)
    return error(RequestRejected(f"{go_json_writer.text(name)} does not support generate"))

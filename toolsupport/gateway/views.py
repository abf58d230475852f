"""The views of /v1."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import orjson
from channels.db import database_sync_to_async as in_database
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST, require_safe

from toolsupport import loop_share
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.events import Event, Failed
from toolsupport.gateway import (
    answer_runner,
    chat_request,
    chat_response,
    error_replies,
    keep_alive,
    model_list,
    request_preparation,
)
from toolsupport.gateway import (
    openapi as gateway_openapi,
)
from toolsupport.gateway.attempts import RequestSummary
from toolsupport.gateway.chat_request import ChatCompletionRequest
from toolsupport.gateway.field_errors import InvalidField
from toolsupport.gateway.request_preparation import Caller, PreparedRequest
from toolsupport.registry.people.permissions import Action
from toolsupport.web import api_errors
from toolsupport.web.view_permissions import AuthedRequest, requires

BODY_LIMIT = 8 * 1024 * 1024
# Reading a longer one could take half a second, for which all other answers would wait.
LONG_BODY = 64 * 1024
TOO_LARGE = "The request is larger than this site takes."
STOPPED: list[Event] = [Failed("cut", "This site is being stopped. Ask again soon.")]
ANSWERS_LIMIT = "X-Toolsupport-Answers-Limit"
STILL_HERE = b": the model is still at it\n\n"


@require_safe
@requires(Action.CHAT)
def models(request: AuthedRequest) -> JsonResponse:
    """List every available model."""
    return JsonResponse({"object": "list", "data": model_list.models()})


@require_safe
@requires(Action.CHAT)
def model(request: AuthedRequest, model_id: str) -> HttpResponse:
    """Return one model."""
    try:
        return JsonResponse(model_list.model(model_id))
    except NotFound as error:
        return error_replies.missing(error)


@require_safe
@requires(Action.SEE_MODELS)
def openapi(request: AuthedRequest) -> JsonResponse:
    """Return the OpenAPI document."""
    return JsonResponse(gateway_openapi.document(request.build_absolute_uri("/").rstrip("/")))


@require_POST
@requires(Action.CHAT)
async def completions(request: AuthedRequest) -> HttpResponseBase:
    """Answer a chat completion, whole or as a stream."""
    body, caller = request.read(BODY_LIMIT + 1), Caller(request.user.pk, request.key)
    if len(body) > BODY_LIMIT:
        return api_errors.answer(413, TOO_LARGE)
    try:
        loop_share.person.set(caller.person)
        asked = await _read(body)
        prepared = await in_database(request_preparation.prepare)(asked, caller)
        response = await (_streamed(prepared) if prepared.stream else _whole(prepared))
    except (InvalidField, NotFound, ConfigError, Busy) as error:
        response = error_replies.before(error)
    response.headers[ANSWERS_LIMIT] = str(answer_runner.limit_of(caller))
    return response


async def _read(body: bytes) -> ChatCompletionRequest:
    """Read a body. Raises InvalidField."""
    if len(body) > LONG_BODY:
        return await asyncio.to_thread(chat_request.read, body)
    async with loop_share.step():
        return chat_request.read(body)


async def _whole(prepared: PreparedRequest) -> HttpResponseBase:
    tally = _tally(prepared)
    async with aclosing(answer_runner.answer(prepared, tally)) as batches:
        events = [event async for batch in batches for event in batch]
    async with loop_share.step():
        return _with_headers(_response(events, prepared, tally), prepared, tally)


def _response(events: list[Event], prepared: PreparedRequest, tally: RequestSummary) -> HttpResponse:
    if isinstance(events[-1], Failed):
        return error_replies.answer(events[-1])
    return HttpResponse(orjson.dumps(chat_response.whole(prepared.model, events, tally)), "application/json")


async def _streamed(prepared: PreparedRequest) -> HttpResponseBase:
    """Wait some time for the first event, so that an earlier failure gets its own status."""
    tally = _tally(prepared)
    batches = keep_alive.with_keep_alive(answer_runner.answer(prepared, tally))
    first = await anext(batches, STOPPED)
    if first and isinstance(first[0], Failed):
        await batches.aclose()
        return _with_headers(error_replies.answer(first[0]), prepared, tally)
    pieces = chat_response.ChunkEncoder(prepared.model, tally, prepared.include_usage)
    response = StreamingHttpResponse(_lines(first, batches, pieces), content_type="text/event-stream")
    # A proxy must not gather the pieces.
    response.headers["X-Accel-Buffering"] = "no"
    return _with_headers(response, prepared, tally)


async def _lines(
    first: list[Event], batches: AsyncGenerator[list[Event], None], pieces: chat_response.ChunkEncoder
) -> AsyncIterator[bytes]:
    async with aclosing(batches):
        yield _written(pieces, first)
        async for batch in batches:
            if pieces.failed is None:
                async with loop_share.step():
                    written = _written(pieces, batch)
                yield written
    if not pieces.ended and pieces.failed is None:
        yield _written(pieces, STOPPED)


def _written(pieces: chat_response.ChunkEncoder, events: list[Event]) -> bytes:
    """Return the lines for these events; a failure replaces the end mark, a comment marks a silence."""
    if not events:
        return STILL_HERE
    lines = [b"data: " + orjson.dumps(piece) + b"\n\n" for piece in pieces.take(events)]
    if pieces.failed is not None:
        lines.append(b"event: error\ndata: " + orjson.dumps(error_replies.body(pieces.failed)) + b"\n\n")
    elif pieces.ended:
        lines.append(b"data: [DONE]\n\n")
    return b"".join(lines)


def _tally(prepared: PreparedRequest) -> RequestSummary:
    return RequestSummary(prepared.request_spec.format, prepared.source, left_out=prepared.left_out)


def _with_headers(response: HttpResponseBase, prepared: PreparedRequest, tally: RequestSummary) -> HttpResponseBase:
    """Add the headers about the request; for a stream, those known at its beginning."""
    facts = {
        "Model": prepared.model,
        "Format": tally.format or "none",
        "Source": tally.source,
        "Repairs": str(len(tally.repairs)),
        "Retries": str(tally.retries),
        "Tools-Left-Out": tally.left_out,
    }
    for name, value in facts.items():
        if value:
            response.headers[f"X-Toolsupport-{name}"] = value.encode("ascii", "replace").decode()
    return response

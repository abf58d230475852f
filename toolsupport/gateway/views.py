"""The views of /v1."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import TypeVar

from channels.db import database_sync_to_async as in_database
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST, require_safe

from toolsupport import loop_share
from toolsupport.core import exact_json
from toolsupport.core.errors import Busy, ConfigError, NotFound, ToolsupportError
from toolsupport.core.events import Event, Failed, is_text
from toolsupport.gateway import answer_runner, error_replies, first_uses, keep_alive, model_list, request_preparation
from toolsupport.gateway import openapi as gateway_openapi
from toolsupport.gateway.apis import CHAT_COMPLETIONS, MESSAGES, RESPONSES, Api, ReplyEncoder
from toolsupport.gateway.embeddings import request as embeddings_request
from toolsupport.gateway.embeddings import response as embeddings_response
from toolsupport.gateway.keep_alive import Shortcut
from toolsupport.gateway.messages import request as messages_request
from toolsupport.gateway.messages.shapes import COUNT
from toolsupport.gateway.request_errors import InvalidField, TooLarge, UntestedModel
from toolsupport.gateway.request_preparation import Caller, PreparedRequest
from toolsupport.gateway.request_summary import RequestSummary
from toolsupport.registry.people.permissions import Action
from toolsupport.services import database_thread
from toolsupport.web.flow_control import AT_ONCE
from toolsupport.web.view_permissions import AuthedRequest, requires

BODY_LIMIT = 8 * 1024 * 1024
# Reading a longer one could take half a second, for which all other answers would wait.
LONG_BODY = 64 * 1024
TOO_LARGE = "The request is larger than this site accepts."
STOPPED: list[Event] = [Failed("cut", "This site is stopping. Send the request again soon.")]
ANSWERS_LIMIT = "X-Toolsupport-Answers-Limit"
LONGEST_HEADER = 1000
# Characters that a header must not contain, such as a line break in a type of a tool.
UNPRINTABLE = re.compile(r"[^ -~]")
Read = TypeVar("Read")


@require_safe
@requires(Action.CHAT)
def models(request: AuthedRequest) -> JsonResponse:
    """List every available model."""
    return JsonResponse(model_list.LIST(data=model_list.models()))


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
    return await _answered(request, CHAT_COMPLETIONS)


@require_POST
@requires(Action.CHAT)
async def responses(request: AuthedRequest) -> HttpResponseBase:
    """Answer a request of OpenAI's Responses API, whole or as a stream."""
    return await _answered(request, RESPONSES)


@require_POST
@requires(Action.CHAT)
async def messages(request: AuthedRequest) -> HttpResponseBase:
    """Answer a request of Anthropic's Messages API, whole or as a stream."""
    return await _answered(request, MESSAGES)


@require_POST
@requires(Action.CHAT)
async def embeddings(request: AuthedRequest) -> HttpResponseBase:
    """Answer a request for embeddings of texts."""
    caller = Caller(request.user.pk, request.key)
    try:
        asked, _ = await _read(request, embeddings_request.read)
        name, found = await embeddings_response.answer(asked, caller)
        answer = error_replies.answer(found) if isinstance(found, Failed) else JsonResponse(found)
        answer.headers["X-Toolsupport-Model"] = UNPRINTABLE.sub("?", name)
    except ToolsupportError as error:
        answer = error_replies.before(error)
    answer.headers[ANSWERS_LIMIT] = str(answer_runner.limit_of(caller))
    return answer


@require_POST
@requires(Action.CHAT)
async def count_tokens(request: AuthedRequest) -> HttpResponseBase:
    """Estimate the tokens of a request of the Messages API."""
    try:
        asked, _ = await _read(request, messages_request.read_count)
        return JsonResponse(COUNT(input_tokens=await in_database(request_preparation.count)(asked)))
    except ToolsupportError as error:
        return error_replies.before(error)


async def _read(request: AuthedRequest, read: Callable[[bytes], Read]) -> tuple[Read, int]:
    """Return the parsed body and its bytes. Raises TooLarge, InvalidField."""
    body = request.read(BODY_LIMIT + 1)
    if len(body) > BODY_LIMIT:
        raise TooLarge(TOO_LARGE)
    loop_share.person.set(request.user.pk)
    if len(body) > LONG_BODY:
        return await asyncio.to_thread(read, body), len(body)
    async with loop_share.step():
        return read(body), len(body)


async def _answered(request: AuthedRequest, api: Api) -> HttpResponseBase:
    caller = Caller(request.user.pk, request.key)
    try:
        asked, size = await _read(request, api.read)
        prepared = await database_thread.run(lambda: request_preparation.prepare(asked, caller))
        response = await (_streamed(request, prepared, api) if prepared.stream else _whole(prepared, api, size))
    except (InvalidField, NotFound, ConfigError, Busy, TooLarge, UntestedModel) as error:
        response = error_replies.before(error)
    response.headers[ANSWERS_LIMIT] = str(answer_runner.limit_of(caller))
    return response


async def _whole(prepared: PreparedRequest, api: Api, size: int) -> HttpResponseBase:
    """Return the whole answer to a request of so many bytes."""
    tally = _tally(prepared)
    async with aclosing(answer_runner.answer(prepared, tally)) as batches:
        events = [event async for batch in batches for event in batch]

    def made() -> HttpResponseBase:
        if isinstance(events[-1], Failed):
            return _with_headers(error_replies.answer(events[-1]), prepared, tally)
        body = api.encoder(tally.answered_by or prepared, tally).whole(events)
        return _with_headers(HttpResponse(exact_json.dumps(body), content_type="application/json"), prepared, tally)

    # The Responses API repeats parts of the request.
    return await loop_share.apart(made, size)


async def _streamed(request: AuthedRequest, prepared: PreparedRequest, api: Api) -> HttpResponseBase:
    """Wait some time for the first event, so that an earlier failure gets its own status."""
    tally, shortcut = _tally(prepared), Shortcut[Event]()
    batches = keep_alive.with_keep_alive(answer_runner.answer(prepared, tally), shortcut)
    first = await anext(batches, STOPPED)
    if first and isinstance(first[0], Failed):
        await batches.aclose()
        return _with_headers(error_replies.answer(first[0]), prepared, tally)
    encoder = api.encoder(tally.answered_by or prepared, tally)

    def begin() -> None:
        if at_once := (getattr(request, "scope", {}).get("extensions") or {}).get(AT_ONCE):
            shortcut.send = partial(_sent_at_once, encoder, at_once)

    response = StreamingHttpResponse(_lines(first, batches, encoder, begin), content_type="text/event-stream")
    # A proxy must not gather the pieces.
    response.headers["X-Accel-Buffering"] = "no"
    return _with_headers(response, prepared, tally)


def _sent_at_once(
    encoder: ReplyEncoder, at_once: Callable[[Callable[[], bytes]], bool], batch: Sequence[Event]
) -> bool:
    """Send a text directly if the server can do so now; return whether it was sent. Most batches are texts."""
    return is_text(batch) and encoder.failed is None and at_once(partial(encoder.lines, batch))


async def _lines(
    first: list[Event],
    batches: AsyncGenerator[list[Event], None],
    encoder: ReplyEncoder,
    begin: Callable[[], None],
) -> AsyncIterator[bytes]:
    """Yield what is sent; `begin` is called when the head of the answer and the first part have been sent."""
    async with aclosing(batches):
        yield encoder.lines(first) if first else encoder.silence()
        begin()
        async for batch in batches:
            if encoder.failed is None:
                yield await _written(batch, encoder)
    if not encoder.ended and encoder.failed is None:
        yield encoder.lines(STOPPED)


async def _written(batch: list[Event], encoder: ReplyEncoder) -> bytes:
    if not batch:
        return encoder.silence()
    if is_text(batch):  # a text of one read takes some microseconds
        return encoder.lines(batch)
    async with loop_share.step():
        return encoder.lines(batch)


def _tally(prepared: PreparedRequest) -> RequestSummary:
    """Return the summary before the answer; values that a test will decide stay open."""
    if prepared.untested:
        return RequestSummary(source=prepared.source, first_use=first_uses.TESTING)
    return RequestSummary(prepared.request_spec.format, prepared.source, left_out=prepared.left_out)


def _with_headers(response: HttpResponseBase, prepared: PreparedRequest, tally: RequestSummary) -> HttpResponseBase:
    """Add the headers about the request; for a stream, those known at its beginning."""
    facts = {
        "Model": (tally.answered_by or prepared).model,
        "Format": tally.format or "none",
        "Source": tally.source,
        "Repairs": str(len(tally.repairs)),
        "Retries": str(tally.retries),
        "Tools-Left-Out": tally.left_out,
        "First-Use": tally.first_use,
        "Forced": tally.forced,
        "Format-Reason": tally.format_reason[:LONGEST_HEADER],
        "Settings-Left-Out": ",".join(tally.settings_left_out),
        "Fallback": tally.fallback,
        "Response-Format": (tally.answered_by or prepared).response_format,
        "Tools-Skipped": ",".join(prepared.asked.skipped)[:LONGEST_HEADER],
    }
    for name, value in facts.items():
        if value:
            response.headers[f"X-Toolsupport-{name}"] = UNPRINTABLE.sub("?", value)
    return response

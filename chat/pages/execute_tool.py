"""Runs one call of a tool for a program, under the same policy as a model's call (T7)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.http import JsonResponse
from django.views.decorators.http import require_POST

from chat.transcript.turns import api_tool_call
from chat.transcript.turns.api_tool_call import CallRequest, InvalidCall, RequestedCallState
from chat.turns import runner, standalone_call
from toolsupport.core import strict_json
from toolsupport.core.error_statuses import KINDS
from toolsupport.core.errors import NotFound
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.request_schemas import CALLS
from toolsupport.registry.people.permissions import Action
from toolsupport.web import api_errors
from toolsupport.web.view_permissions import AuthedRequest, requires

BODY_LIMIT = 2 * 1024 * 1024
# Seconds between two polls, if another process is notified of the end; and until the request times out.
LOOK, LONGEST = 1.0, 120
ENDS = ("turn.ended", "turn.waiting")

WAITS = "A person must allow this call. Answer the question in its chat, then send the same request again."
LATE = "The call is still running. Send the same request again to get its result."


@require_POST
@requires(Action.CHAT)
async def execute(request: AuthedRequest) -> JsonResponse:
    """Run one call, in the person's own conversation or in a temporary workspace."""
    try:
        fields = await asyncio.to_thread(asked, request.read(BODY_LIMIT + 1))
        wish = await in_database(_call_request)(fields)
        if fields.get("conversation") is None:
            return JsonResponse(await standalone_call.run(wish, request.user.pk))
        return await _in_chat(wish, request.user.pk, str(fields["conversation"]))
    except NotFound as error:
        return api_errors.answer(404, str(error), "conversation", "conversation_not_found")
    except InvalidCall as error:
        return api_errors.answer(400, str(error), error.param or None, "invalid_value")
    except KINDS as error:
        return api_errors.refusal(error)


def asked(body: bytes) -> dict[str, Any]:
    """Parse the fields of a request. Raises InvalidCall, which names the wrong field."""
    if len(body) > BODY_LIMIT:
        raise InvalidCall("The request is larger than this site accepts.", "arguments")
    try:
        given: dict[str, Any] = strict_json.read(body)
        CALLS.check(given)
    except InvalidField as error:
        raise InvalidCall(str(error), error.param) from error
    except ValueError as error:
        raise InvalidCall(f"The body is not JSON: {error}.", "") from error
    return {"arguments": {}} | given


def _call_request(fields: dict[str, Any]) -> CallRequest:
    try:
        return CallRequest(api_tool_call.profile(fields["model"]), fields["name"], fields["arguments"])
    except NotFound as error:
        raise InvalidCall(str(error), "model") from error


async def _in_chat(wish: CallRequest, person: int, conversation: str) -> JsonResponse:
    async with _ends(conversation) as ended:
        accepted = await runner.current().begin(person, conversation, wish)
        for _ in range(LONGEST):
            ended.clear()
            state = await in_database(api_tool_call.state)(accepted.turn)
            if state.question is not None or state.call is not None:
                return _outcome(state)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await ended.wait()
    return api_errors.answer(504, LATE, None, "still_running")


def _outcome(state: RequestedCallState) -> JsonResponse:
    if state.call is not None:
        return JsonResponse({"call": state.call, "result": state.result})
    wrong = api_errors.body(409, WAITS, None, "approval_needed")
    return JsonResponse(wrong | {"question": state.question}, status=409)


@asynccontextmanager
async def _ends(conversation: str) -> AsyncIterator[asyncio.Event]:
    """Set an event whenever a turn of the conversation ends or waits, notified like a page."""
    ended = asyncio.Event()

    async def receive(frame: str) -> None:
        if json.loads(frame)["type"] in ENDS:
            ended.set()

    async def fall_behind() -> None:
        ended.set()

    socket, pump = runner.current().listen(conversation, receive, fall_behind)
    try:
        yield ended
    finally:
        runner.current().forget(conversation, socket, pump)

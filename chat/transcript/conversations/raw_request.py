"""Reads the stored raw exchanges of one answer, or rebuilds its request from rows if none are stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from chat.models import Conversation, ResultTable, ToolRun
from chat.transcript.conversations.conversations import Person, own_row
from chat.transcript.messages import attachments, present, raw_exchanges
from chat.transcript.messages.history import canonical
from chat.transcript.messages.raw_exchanges import ShownExchange
from chat.transcript.messages.view_models import ShownCall
from chat.transcript.settings import turn_settings
from toolsupport import exchange, providers
from toolsupport.core import format_choice, format_fallback
from toolsupport.core.errors import NotFound
from toolsupport.core.types import RequestSpec, Role

# An image is one long word, which is unreadable and would fill the page.
LONGEST_WORD = 1000


def table(person: Person, run_id: int) -> str:
    """Return the complete table of a call in the person's own conversation, as CSV. Raises NotFound."""
    found = ResultTable.objects.filter(run_id=run_id, run__message__conversation__owner_id=person.pk).first()
    if found is None:
        raise NotFound("This table does not exist.")
    return found.csv


def result(person: Person, run_id: int) -> tuple[str, str]:
    """Return the conversation and the result of a call in the person's own conversation. Raises NotFound."""
    mine = ToolRun.objects.filter(pk=run_id, message__conversation__owner_id=person.pk)
    found = mine.values_list("message__conversation", "result").first()
    if found is None:
        raise NotFound("This call does not exist.")
    return str(found[0]), found[1]


@dataclass(frozen=True, slots=True)
class ShownRawRequest:
    """`format` is its label, "" if no tools were offered.

    Without stored `exchanges`, `request` is a rebuilt body.
    """

    model: str
    format: str
    reason: str
    request: str
    calls: tuple[ShownCall, ...]
    exchanges: tuple[ShownExchange, ...] = ()


def of(person: Person, conversation_id: str, message_id: int) -> ShownRawRequest:
    """Return the raw exchanges of one answer of the person's own conversation. Raises NotFound, ConfigError."""
    conversation = own_row(person, conversation_id, with_state=True)
    answers = conversation.messages.filter(role=Role.ASSISTANT).select_related("turn__profile__server")
    message = answers.filter(pk=message_id).first()
    if message is None or message.turn is None:
        raise NotFound("This answer does not exist.")
    turn, writer = message.turn, message.writer or message.turn.profile
    conversation.profile, conversation.leaf_id = writer, message.parent_id
    # A turn may have continued in another format after this answer; its calls store their own.
    runs = list(message.tool_runs.order_by("id"))
    written = next((run.format for run in runs if run.format and not run.in_prose), turn.format)
    request_spec = _as_then(turn_settings.prepared(conversation).request_spec, written)
    exchanges = raw_exchanges.of_message(message.pk)
    return ShownRawRequest(
        model=writer.name,
        format=format_choice.label(request_spec.format) if request_spec.format else "",
        reason=request_spec.format_reason,
        request=""
        if exchanges
        else _rebuilt(conversation, writer.server.kind, attachments.sees(turn.capabilities), request_spec),
        calls=present.cards(runs),
        exchanges=exchanges,
    )


def _rebuilt(conversation: Conversation, kind: str, sees: bool, request_spec: RequestSpec) -> str:
    log = canonical(conversation, None, sees)
    return readable(providers.codec(kind).encode(exchange.make_request(request_spec, log)))


def _as_then(request_spec: RequestSpec, written: str) -> RequestSpec:
    """Return today's request in the former format; without tools if it had none, or may have none today."""
    if written and written != request_spec.format and request_spec.tools:
        request_spec = format_fallback.in_format(request_spec, written, "As it was at the time of this answer.")
    if written and exchange.may_carry_tools(request_spec):
        return request_spec
    return format_fallback.without_tools(request_spec, "then", request_spec.format_reason)


def readable(body: bytes) -> str:
    """Return a request for people: indented, with long strings such as images cut."""
    return json.dumps(_cut(json.loads(body)), indent=2, ensure_ascii=False)


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_cut(inner) for inner in value]
    if isinstance(value, str) and len(value) > LONGEST_WORD and " " not in value:
        return f"{value[:40]}… ({len(value):,} characters)"
    return value

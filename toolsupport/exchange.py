"""Sends one request to one model, with all checks and retries on the way.

Tools are sent only to a model that is known to support them, or by a probe: the registry decides, this module checks
the capabilities once more, and the codec refuses on its own. If the server refuses the tools all the same, an event
follows, and the request is repeated without them; a probe gets the event and the failure. A server that refuses tools
together with streaming is asked again with tools and without streaming. If the server could not parse a call of its
model, the model gets the error and is asked again, at most twice, whatever part of its reply was seen: the reply
continues, and calls of the failed attempt do not count. A model without the ability to think is not asked to; if the
server refuses thinking all the same, the request is repeated without that setting.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import groupby

from toolsupport import loop_share, providers, refused_settings, thinking_setting
from toolsupport.config import metrics
from toolsupport.core import completed_tools, expected_reply, forced_calls, prompt, retry_prompts, schema_limits
from toolsupport.core.call_validation import check as check_call
from toolsupport.core.call_validation import preparing
from toolsupport.core.constrained import SchemaRules, call_schema
from toolsupport.core.constrained.schema_enforcement import ReplyBeginning, is_refusal
from toolsupport.core.copied_marks import CopiedMarks
from toolsupport.core.events import (
    REFUSED,
    CallDelta,
    CallFound,
    CallGarbled,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    ReasoningSeen,
    SchemaDropped,
    SchemaRefused,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
    ToolsRefused,
    is_text,
)
from toolsupport.core.format_fallback import in_text, without_tools
from toolsupport.core.formats import FORMATS, forced_json
from toolsupport.core.free_text_tools import read_again
from toolsupport.core.quoted_calls import ResultIndex
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.server_refusals import MALFORMED, MISCONFIGURED, STREAMING, UNSUPPORTED, classify
from toolsupport.core.types import JSON, ChatMessage, Endpoint, Permit, Request, RequestSpec, ToolSpec
from toolsupport.providers.exchange_recorder import ExchangeRecorder

Trouble = ToolsRefused | CallGarbled | SchemaRefused
# Characters of a reply that are read at once: some marks take 15 µs each.
SLICE = 200
REPLY_PARTS = (TextDelta, ThinkingDelta, CallDelta, CallReady, CallRejected)
CALLS = (CallReady, CallFound)


async def ask(
    endpoint: Endpoint,
    request_spec: RequestSpec,
    messages: Sequence[ChatMessage],
    recorder: ExchangeRecorder | None = None,
) -> AsyncGenerator[list[Event], None]:
    """Yield batches of events, one per read; the last event is Finished or Failed. Close it to stop the server.

    `recorder` receives every request with its raw reply.
    """
    request_spec, asking = as_required(endpoint, admitted(request_spec), messages), _ExchangeState(messages, recorder)
    while True:
        trouble: Trouble | None = None
        async with aclosing(_answer(endpoint, request_spec, asking)) as batches:
            async for batch in batches:
                trouble = (
                    None if is_text(batch) else next((event for event in batch if isinstance(event, Trouble)), None)
                )
                if trouble is None or not _only_streamed(trouble, request_spec):
                    yield batch
        if trouble is None or request_spec.permit is Permit.PROBE:
            return
        if _only_streamed(trouble, request_spec):
            request_spec = replace(request_spec, stream=False)
            continue
        request_spec = _after(request_spec, trouble)
        asking.again(trouble)


def _after(request_spec: RequestSpec, trouble: Trouble) -> RequestSpec:
    """Return the spec of the next request: without what was refused, or constrained after an unreadable call."""
    if isinstance(trouble, SchemaRefused):
        return forced_calls.after_refusal(request_spec, trouble)
    if isinstance(trouble, ToolsRefused):
        return otherwise(request_spec, trouble)
    return forced_calls.retried(request_spec, None) if request_spec.may_force else request_spec


def as_required(endpoint: Endpoint, request_spec: RequestSpec, messages: Sequence[ChatMessage]) -> RequestSpec:
    """Return the spec constrained to a call, where one is required and the server does not see to that itself."""
    return forced_calls.required(request_spec, messages, providers.honours_tool_choice(endpoint.kind))


def _only_streamed(trouble: Trouble | None, request_spec: RequestSpec) -> bool:
    """Return whether the same tools may be accepted without streaming."""
    return isinstance(trouble, ToolsRefused) and trouble.rule == STREAMING and request_spec.stream


@dataclass(slots=True)
class _ExchangeState:
    """One exchange with its retries. `reply` has the text of all attempts."""

    question: Sequence[ChatMessage]
    recorder: ExchangeRecorder | None = None
    messages: Sequence[ChatMessage] = ()
    reply: ReplyBuilder = field(default_factory=ReplyBuilder)
    silent: bool = True
    refused: bool = False
    garbled: int = 0

    def __post_init__(self) -> None:
        self.messages = self.question

    def record(self, events: Sequence[Event]) -> None:
        for event in events:
            self.reply.take(event)

    def again(self, trouble: Trouble) -> None:
        if isinstance(trouble, ToolsRefused):
            self.refused = True
        elif isinstance(trouble, CallGarbled):
            self.garbled += 1
            self.messages = retry_prompts.messages(self.question, self.reply.text, trouble.message)


async def _answer(
    endpoint: Endpoint, request_spec: RequestSpec, asking: _ExchangeState
) -> AsyncGenerator[list[Event], None]:
    """Send one request. A problem with its tools is in the last batch.

    Tools can be refused only before the first token, and once; a call can be unreadable at any time.
    """
    request_spec = thinking_setting.as_possible(endpoint, request_spec, asking.messages)
    size, defined = sum(message.size for message in asking.messages), schema_limits.size_of(request_spec.tools)
    request = await loop_share.apart(lambda: make_request(request_spec, asking.messages), size + defined)
    asking.silent, before, beginning, offered = True, asking.reply.text, ReplyBeginning(), request_spec.callable
    listener = _reader(request_spec, offered, request)
    results = ResultIndex(asking.messages)
    copied = CopiedMarks(asking.messages if request_spec.format in FORMATS else ())
    if size > loop_share.LONG:
        await asyncio.to_thread(lambda: (results.prepared(), copied.ours))
    called_for = request_spec.permit is Permit.PROBE or forced_calls.is_required(request_spec)
    listener.set_circumstances(expected_reply.circumstances(asking.question, results.hold, called_for))

    def check(event: Event) -> Event | None:
        event = copied.restored(event)
        return _checked(event, offered, before) if _meant(event, request_spec, request, results) else None

    async with aclosing(refused_settings.stream(endpoint, request, request_spec.options, asking.recorder)) as batches:
        async for batch in batches:
            asking.silent = asking.silent and not any(isinstance(event, REPLY_PARTS) for event in batch)
            trouble = None
            if isinstance(batch[-1], Failed):
                async with loop_share.step():
                    trouble = _trouble(batch[-1], request_spec, request)
            if trouble and _ends_at_once(trouble, request, asking):
                yield [*batch[:-1], trouble, batch[-1]] if request_spec.permit is Permit.PROBE else [trouble]
                continue
            checked_events = await _read(listener, batch, check, offered)
            asking.record(checked_events)
            checked_events = [*_dropped(beginning, batch, request), *checked_events]
            if isinstance(trouble, CallGarbled):
                checked_events = _unreadable(checked_events, trouble, asking)
            if checked_events:
                yield checked_events


def _reader(request_spec: RequestSpec, offered: Sequence[ToolSpec], request: Request) -> ReplyReader:
    stops = request_spec.options.get("stop") or ()
    return ReplyReader(request_spec.format, offered, thinking_setting.begins_inside(request_spec, request), stops)


async def _read(
    listener: ReplyReader, batch: Sequence[Event], check: Callable[[Event], Event | None], offered: Sequence[ToolSpec]
) -> list[Event]:
    """Return what the reader makes of a batch and the check keeps, in steps between which other answers continue."""
    if text := _short_text(batch):
        events = await loop_share.brief(listener.short_text, text)
        return events if is_text(events) else [checked for event in events if (checked := check(event)) is not None]
    found: list[Event] = []
    parts, read = _parts(listener, batch, check, offered), False
    while not read:
        async with loop_share.step() as step:
            for part in parts:
                found += part
                if step.over():
                    break
            else:
                read = True
    return found


def _short_text(batch: Sequence[Event]) -> str:
    """Return the text of a batch that is nothing else and fits into a slice; else ""."""
    text = ""
    for event in batch:
        if type(event) is not TextDelta:
            return ""
        text += event.text
        if len(text) > SLICE:
            return ""
    return text


def _parts(
    listener: ReplyReader, batch: Sequence[Event], check: Callable[[Event], Event | None], offered: Sequence[ToolSpec]
) -> Iterator[list[Event]]:
    """Yield the checked events in parts: of some text, of a step, and each call alone, whose check takes some ms."""
    part: list[Event] = []
    for event in listener.read(_pieces(batch)):
        if event is None:
            yield part
            part = []
            continue
        if isinstance(event, CALLS):
            yield part
            part = []
            yield from ([] for _ in preparing(event.call, offered))
        if (checked := check(event)) is not None:
            part.append(checked)
    yield part


def _pieces(batch: Sequence[Event]) -> Iterator[Event]:
    """Yield adjacent short texts as one and long ones in pieces: how a text is cut changes nothing."""
    for kind, same in groupby(batch, type):
        if kind is TextDelta or kind is ThinkingDelta:
            yield from map(kind, _slices(event.text for event in same if isinstance(event, TextDelta | ThinkingDelta)))
        else:
            yield from same


def _slices(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts in slices; one that fits into a slice is not cut, since a reader may look for it whole."""
    parts, size = list[str](), 0
    for text in texts:
        if parts and size + len(text) > SLICE:
            yield "".join(parts)
            parts, size = [], 0
        if len(text) > SLICE:
            rest = len(text) % SLICE
            yield from (text[at : at + SLICE] for at in range(0, len(text) - rest, SLICE))
            text = text[len(text) - rest :]
        if text:
            parts.append(text)
            size += len(text)
    if parts:
        yield "".join(parts)


def _unreadable(checked_events: Sequence[Event], garbled: CallGarbled, asking: _ExchangeState) -> list[Event]:
    """End an attempt with an unreadable call: return its events, and how the reply continues."""
    metrics.GARBLED.inc()
    told = [event for event in checked_events if not isinstance(event, Failed | CallReady | CallRejected | CallFound)]
    failed = next(event for event in checked_events if isinstance(event, Failed))
    if asking.garbled >= retry_prompts.MOST_RETRIES:
        return [*told, retry_prompts.given_up(failed, garbled)]
    apart: list[Event] = [TextDelta("\n\n")] if asking.reply.text and not asking.reply.text.endswith("\n") else []
    asking.record(apart)
    return [*told, *apart, garbled]


def first_request(request_spec: RequestSpec, messages: Sequence[ChatMessage]) -> Request:
    """Return the first request that `ask` sends to the server."""
    return make_request(admitted(request_spec), messages)


def admitted(request_spec: RequestSpec) -> RequestSpec:
    """Return the spec, without tools if it may not carry any."""
    return (
        request_spec
        if may_carry_tools(request_spec)
        else without_tools(request_spec, "unsupported", request_spec.format_reason)
    )


def may_carry_tools(request_spec: RequestSpec) -> bool:
    """Check the capabilities, as the second of three guards, whatever the registry put into the spec."""
    if not request_spec.tools:
        return True
    supported = request_spec.capabilities["tools"].value is True or request_spec.permit is Permit.PROBE
    return supported if request_spec.format == "native" else request_spec.format in FORMATS


def otherwise(request_spec: RequestSpec, refused: ToolsRefused) -> RequestSpec:
    """Return the spec for the retry after the tools were refused: in a text format that works, else without tools."""
    why = "lacks a setting for native tools" if refused.misconfigured else "refused native tools"
    reason = f"Its server {why}: {refused.message}"
    return in_text(request_spec, "refused", reason)


def make_request(request_spec: RequestSpec, messages: Sequence[ChatMessage]) -> Request:
    """Build the provider's request: history and system text rendered for what the model may see."""
    tools = completed_tools.of(request_spec.tools)
    if tools is not request_spec.tools:
        request_spec = replace(request_spec, tools=tools)
    return Request(
        model=request_spec.model,
        messages=prompt.messages(request_spec, messages),
        tools=request_spec.tools if request_spec.format == "native" else (),
        options=prompt.options(request_spec, messages),
        think=thinking_setting.sent(request_spec),
        keep_alive=request_spec.keep_alive,
        stream=request_spec.stream,
        supports_tools=request_spec.capabilities["tools"].value,
        permit=request_spec.permit,
        schema=_schema(request_spec),
    )


def _schema(request_spec: RequestSpec) -> JSON | None:
    """Return what the reply is constrained to. This is the one place that decides it: never beside native tools."""
    if request_spec.format != forced_json.NAME or not request_spec.tools:
        return request_spec.schema if not request_spec.tools else None
    limits = request_spec.constraint
    tools = [tool for tool in request_spec.tools if not limits.tools or tool.name in limits.tools]
    several = request_spec.capabilities["parallel"].value is not False and not limits.tools
    parallel = several and not limits.plain and request_spec.options.get("parallel_tool_calls") is not False
    rules = SchemaRules(request_spec.keywords, limits.narrow, limits.plain)
    return call_schema(tools or request_spec.tools, answer=limits.answer, parallel=parallel, rules=rules)


def _ends_at_once(trouble: Trouble, request: Request, asking: _ExchangeState) -> bool:
    """Return whether the server refused a part of the request before it answered."""
    if isinstance(trouble, SchemaRefused):
        return True
    return isinstance(trouble, ToolsRefused) and bool(request.tools) and asking.silent and not asking.refused


def _dropped(beginning: ReplyBeginning, batch: Sequence[Event], request: Request) -> list[Event]:
    """Return an event at the end of a constrained reply, no refusal, that shows that its server enforced nothing."""
    if request.schema is None or request.permit is Permit.PROBE:
        return []
    for event in batch:
        if isinstance(event, TextDelta):
            beginning.take(event.text)
    whole = isinstance(batch[-1], Finished) and batch[-1].reason != REFUSED and beginning.unconstrained
    return [SchemaDropped(beginning.text)] if whole else []


def _trouble(event: Failed, request_spec: RequestSpec, request: Request) -> Trouble | None:
    """Return the problem with the tools that a failure reveals. A probe judges unreadable calls itself."""
    found = classify(event.status, event.body)
    if request.schema is not None and is_refusal(event.status, event.body):
        part = forced_calls.refused_part(request_spec, request.schema)
        if part == "keywords" or request_spec.permit is not Permit.PROBE:
            return SchemaRefused(found.message or f"status {event.status}", part)
    if found.label == UNSUPPORTED:
        return ToolsRefused(found.message, found.rule, event.status)
    if request_spec.permit is Permit.PROBE:
        return None
    if found.label == MISCONFIGURED:
        return ToolsRefused(found.message, found.rule, event.status, misconfigured=True)
    return CallGarbled(found.message, found.rule) if found.label == MALFORMED else None


def _meant(event: Event, request_spec: RequestSpec, request: Request, results: ResultIndex) -> bool:
    """Drop calls found in prose that repeat a tool's result."""
    if isinstance(event, ReasoningSeen):
        return thinking_setting.shows_others(event, request_spec, request)
    if not isinstance(event, CallFound):
        return True
    return not results.hold(event.raw)


def _checked(event: Event, offered: Sequence[ToolSpec], before: str) -> Event | None:
    """Check a call against its tool; one in prose that does not fit is None.

    `before` is the text of earlier attempts, to which no mark of this one refers.
    """
    if isinstance(event, TextReclassified):
        return replace(event, text=before + event.text)
    if isinstance(event, CallFound):
        checked = check_call(event.call, offered)
        return replace(event, call=checked.call) if isinstance(checked, CallReady) else None
    if isinstance(event, CallRejected):
        event = read_again(event, offered)
    if not isinstance(event, CallReady):
        return event
    checked = check_call(event.call, offered)
    return replace(checked, raw=event.raw or (checked.raw if isinstance(checked, CallRejected) else ""))

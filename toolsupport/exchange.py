"""Sends one request to one model, with all checks and retries on the way.

Tools are sent only to a model that is known to support them, or by a probe: the registry decides, this module checks
the capabilities once more, and the codec refuses on its own. If the server refuses the tools all the same, an event
follows, and the request is repeated without them; a probe gets the event and the failure. A server that refuses tools
together with streaming is asked again with tools and without streaming. If the server could not parse a call of its
model, the call is read from the error, where that holds it. Else the model gets the error and is asked again, at most
twice, whatever part of its reply was seen: the reply continues, and calls of the failed attempt do not count. A model
without the ability to think is not asked to; if the server refuses thinking all the same, the request is repeated
without that setting.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from toolsupport import call_in_error, loop_share, providers, refused_settings, stepwise_reader, thinking_setting
from toolsupport.config import metrics
from toolsupport.core import completed_tools, expected_reply, forced_calls, prompt, retry_prompts, schema_limits
from toolsupport.core.call_validation import check as check_call
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
CALL_PARTS = (CallDelta, CallReady, CallRejected)
REPLY_PARTS = (TextDelta, ThinkingDelta, *CALL_PARTS)


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
    called: bool = False
    refused: bool = False
    garbled: int = 0

    def __post_init__(self) -> None:
        self.messages = self.question

    def begin(self) -> None:
        """Begin an attempt: nothing of it was seen, and no call."""
        self.silent, self.called = True, False

    def record(self, *batches: Sequence[Event]) -> None:
        """Record the events of a reply: first the server's, if they are given, and last the checked ones."""
        if not all(map(is_text, batches)):
            self.called = self.called or any(isinstance(event, CALL_PARTS) for batch in batches for event in batch)
        for event in batches[-1]:
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
    asking.begin()
    check, beginning, offered = _EventCheck(request_spec, request, asking), ReplyBeginning(), request_spec.callable
    if size > loop_share.LONG:
        await asyncio.to_thread(check.prepare)
    listener = check.reader(request_spec)
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
            checked_events = await stepwise_reader.read(listener, batch, check, offered)
            asking.record(batch, checked_events)
            dropped = [] if request.schema is None else _dropped(beginning, batch, request)
            checked_events = [*dropped, *checked_events]
            if isinstance(trouble, CallGarbled):
                checked_events = await _unreadable(checked_events, trouble, check)
            if checked_events:
                yield checked_events


class _EventCheck:
    """Checks what one attempt reads from its reply: calls against their tools, by the messages of the request."""

    def __init__(self, request_spec: RequestSpec, request: Request, asking: _ExchangeState) -> None:
        self.request_spec, self.request, self.asking = request_spec, request, asking
        self.before = asking.reply.text
        self._results = ResultIndex(asking.messages)
        self._copied = CopiedMarks(asking.messages if request_spec.format in FORMATS else ())

    def prepare(self) -> None:
        """Index long messages."""
        _ = (self._results.prepared(), self._copied.ours)

    def reader(self, request_spec: RequestSpec) -> ReplyReader:
        """Return a reader of one reply in the format of the spec."""
        begins_inside = thinking_setting.begins_inside(request_spec, self.request)
        stops = request_spec.options.get("stop") or ()
        listener = ReplyReader(request_spec.format, request_spec.callable, begins_inside, stops)
        called_for = request_spec.permit is Permit.PROBE or forced_calls.is_required(request_spec)
        shown = expected_reply.circumstances(self.asking.question, self._results.hold, called_for)
        listener.set_circumstances(shown)
        return listener

    def __call__(self, event: Event) -> Event | None:
        event = self._copied.restored(event)
        if not _meant(event, self.request_spec, self.request, self._results):
            return None
        return _checked(event, self.request_spec.callable, self.before)


async def _unreadable(checked_events: Sequence[Event], garbled: CallGarbled, check: _EventCheck) -> list[Event]:
    """End an attempt with an unreadable call: return its events, and how the reply continues."""
    metrics.GARBLED.inc()
    asking = check.asking
    told = [event for event in checked_events if not isinstance(event, Failed | CallReady | CallRejected | CallFound)]
    failed = next(event for event in checked_events if isinstance(event, Failed))
    if rest := await _rest_in_error(failed, check):
        return [*told, *rest]
    if asking.garbled >= retry_prompts.MOST_RETRIES:
        return [*told, retry_prompts.given_up(failed, garbled)]
    apart: list[Event] = [TextDelta("\n\n")] if asking.reply.text and not asking.reply.text.endswith("\n") else []
    asking.record(apart)
    return [*told, *apart, garbled]


async def _rest_in_error(failed: Failed, check: _EventCheck) -> list[Event]:
    """Return the rest of a reply from the error that ended it; nothing after a call of which a part was passed on."""
    asking, request_spec = check.asking, call_in_error.for_error(check.request_spec)
    offered = request_spec.callable
    if asking.called or not offered:
        return []
    lost = call_in_error.LostReply(failed.body, asking.question, offered, check.before, asking.silent)
    rest = await call_in_error.read(lost, check.reader(request_spec), check)
    asking.record(rest)
    return rest


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
    if request.permit is Permit.PROBE:
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

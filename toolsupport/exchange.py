"""Puts one question to one model, through everything that has to happen on the way.

Tools are sent only to a model that is known to take them, or by a probe: the registry decides, this room checks the
capabilities once more, and the codec refuses on its own. Where the server refuses the tools all the same, that is
told by a ToolsRefused, and the question is put once more without them; a probe is told and gets the failure.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from toolsupport import providers
from toolsupport.core import calls, prompt
from toolsupport.core.events import (
    CallDelta,
    CallReady,
    CallRejected,
    Event,
    Failed,
    TextDelta,
    ThinkingDelta,
    ToolsRefused,
)
from toolsupport.core.refusals import UNSUPPORTED, classify
from toolsupport.core.words import Brief, Endpoint, Exclusion, Message, Permit, Request, Role, ToolSpec

SAID = (TextDelta, ThinkingDelta, CallDelta, CallReady, CallRejected)


async def ask(endpoint: Endpoint, brief: Brief, messages: Sequence[Message]) -> AsyncGenerator[list[Event], None]:
    """Batches of events, one per read; the last event is Finished or Failed. Close it to stop the server."""
    brief = brief if may_carry_tools(brief) else without_tools(brief, "unsupported", brief.format_reason)
    refused: ToolsRefused | None = None
    async with aclosing(_answer(endpoint, brief, messages)) as batches:
        async for batch in batches:
            refused = next((event for event in batch if isinstance(event, ToolsRefused)), None)
            yield batch
    if refused is None or brief.permit is Permit.PROBE:
        return
    brief = without_tools(brief, "refused", refused.message)
    async with aclosing(_answer(endpoint, brief, messages)) as batches:
        async for batch in batches:
            yield batch


async def _answer(endpoint: Endpoint, brief: Brief, messages: Sequence[Message]) -> AsyncGenerator[list[Event], None]:
    """One request. A refusal of its tools is told by a ToolsRefused in the last batch, before any word of an answer."""
    request = make_request(brief, messages)
    silent = bool(request.tools)
    async with aclosing(providers.stream(endpoint, request)) as batches:
        async for batch in batches:
            silent = silent and not any(isinstance(event, SAID) for event in batch)
            refusal = _refusal(batch[-1]) if silent else None
            if refusal is None:
                yield [_checked(event, request.tools) for event in batch]
            elif brief.permit is Permit.PROBE:
                yield [*batch[:-1], refusal, batch[-1]]
            else:
                yield [refusal]


def may_carry_tools(brief: Brief) -> bool:
    """The second of three guards: whatever the registry put into the brief, the capabilities decide."""
    if not brief.tools:
        return True
    supported = brief.capabilities["tools"].value is True or brief.permit is Permit.PROBE
    return brief.format == "native" and supported


def without_tools(brief: Brief, rule: str, reason: str) -> Brief:
    """The same brief with every tool left out, which the system text will say."""
    left_out = tuple(Exclusion(tool.name, rule, reason) for tool in brief.tools)
    return replace(brief, tools=(), format="", format_reason=reason, excluded=(*brief.excluded, *left_out))


def make_request(brief: Brief, messages: Sequence[Message]) -> Request:
    """What goes to the provider: history and system text rendered for what the model may see."""
    native = brief.format == "native" and bool(brief.tools)
    log = (Message(Role.SYSTEM, prompt.system(brief)), *messages)
    return Request(
        model=brief.model,
        messages=prompt.history(log, "native" if native else "none"),
        tools=brief.tools if native else (),
        options=prompt.options(brief),
        think=brief.think,
        keep_alive=brief.keep_alive,
        stream=brief.stream,
        supports_tools=brief.capabilities["tools"].value,
        permit=brief.permit,
    )


def _refusal(event: Event) -> ToolsRefused | None:
    if not isinstance(event, Failed):
        return None
    found = classify(event.status, event.body)
    if found.label != UNSUPPORTED:
        return None
    return ToolsRefused(found.message, found.rule, event.status)


def _checked(event: Event, offered: Sequence[ToolSpec]) -> Event:
    if not isinstance(event, CallReady):
        return event
    checked = calls.check(event.call, offered)
    return replace(checked, raw=event.raw or (checked.raw if isinstance(checked, CallRejected) else ""))

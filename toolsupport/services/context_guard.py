"""Watches whether what a model is sent fits into its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core import format_fallback
from toolsupport.core.events import Usage
from toolsupport.core.prompt import context_fitting, token_counts
from toolsupport.core.prompt.context_fitting import ContextWindow, OmitTools, RaiseContext
from toolsupport.core.prompt.token_counts import MeasuredPrompt
from toolsupport.core.types import ChatMessage
from toolsupport.registry.metrics import prompt_counts
from toolsupport.registry.models.request_context import RequestContext

NO_ROOM = "no_room"
REASON = "The conversation leaves no room for it in the context of this model."


def needed(briefing: RequestContext, history: Sequence[ChatMessage]) -> int:
    """About how many tokens a request has."""
    brief = briefing.brief
    return token_counts.expected(brief, briefing.counts, token_counts.characters(brief, history))


def cure(briefing: RequestContext, history: Sequence[ChatMessage]) -> OmitTools | RaiseContext | None:
    """What to do before a request; None where it fits, or where nothing helps."""
    return context_fitting.cure(briefing.window, needed(briefing, history), _spare(briefing, history))


def fits(briefing: RequestContext, history: Sequence[ChatMessage]) -> bool:
    return context_fitting.fits(briefing.window.given, needed(briefing, history))


def _spare(briefing: RequestContext, history: Sequence[ChatMessage]) -> dict[str, int]:
    """What may be left out, with what it costs: not what was called in this conversation, and never everything."""
    used = {call.name for message in history for call in message.calls}
    costs = token_counts.cost_of_each(briefing.brief, briefing.counts)
    names = [name for name in briefing.toolbox.spare if name in costs and name not in used]
    return {name: costs[name] for name in names[: len(costs) - 1]}


def without(briefing: RequestContext, names: Sequence[str]) -> RequestContext:
    """The same without these tools, and with what is known of the rest."""
    brief = format_fallback.left_out(briefing.brief, names, NO_ROOM, REASON)
    if brief.tools == briefing.brief.tools:
        return briefing
    counts = prompt_counts.known(briefing.build, token_counts.tools_digest(brief))
    return replace(briefing, brief=brief, counts=counts)


def within(briefing: RequestContext, window: ContextWindow) -> RequestContext:
    """The same in another context."""
    options = {**briefing.brief.options, "num_ctx": window.given}
    return replace(briefing, brief=replace(briefing.brief, options=options), window=window)


def planned(briefing: RequestContext, history: Sequence[ChatMessage]) -> RequestContext:
    """The request as it would be made to fit, while nothing is changed for anybody."""
    while (todo := cure(briefing, history)) is not None:
        if isinstance(todo, OmitTools):
            briefing = without(briefing, todo.tools)
        else:
            briefing = within(briefing, briefing.window.raised(todo.context))
    return briefing


class ContextGuard:
    """Compares what was sent with what the server counted."""

    def __init__(self) -> None:
        self._length = 0

    def asked(self, briefing: RequestContext, history: Sequence[ChatMessage]) -> None:
        """Before a request."""
        self._length = token_counts.characters(briefing.brief, history)

    def cut(self, briefing: RequestContext, usage: Usage) -> bool:
        """After it: whether the server threw a part of it away."""
        seen = self._seen(usage)
        return seen is not None and token_counts.was_cut(briefing.brief, briefing.counts, seen)

    def after_cut(self, briefing: RequestContext) -> RaiseContext | None:
        """What to do then for the requests that follow."""
        wanted = token_counts.expected(briefing.brief, briefing.counts, self._length)
        return context_fitting.after_cut(briefing.window, wanted)

    def lesson(self, briefing: RequestContext, usage: Usage) -> MeasuredPrompt | None:
        """What is worth keeping: a whole request, shorter than any that was counted before."""
        seen, counts = self._seen(usage), briefing.counts
        known = counts.with_tools if briefing.brief.offers_tools else counts.without
        if seen is None or self.cut(briefing, usage) or (known and known.characters <= seen.characters):
            return None
        return seen

    def _seen(self, usage: Usage) -> MeasuredPrompt | None:
        return MeasuredPrompt(self._length, usage.prompt_tokens) if usage.prompt_tokens else None


def learned(briefing: RequestContext, seen: MeasuredPrompt) -> RequestContext:
    """The same with a count more."""
    more = {"with_tools": seen} if briefing.brief.offers_tools else {"without": seen}
    return replace(briefing, counts=replace(briefing.counts, **more))

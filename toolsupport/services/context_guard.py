"""Checks whether requests fit into the model's context."""

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
    """Estimate the tokens of a request."""
    brief = briefing.brief
    return token_counts.expected(brief, briefing.counts, token_counts.characters(brief, history))


def remedy(briefing: RequestContext, history: Sequence[ChatMessage]) -> OmitTools | RaiseContext | None:
    """Return the remedy before a request; None if it fits, or if nothing helps."""
    return context_fitting.remedy(briefing.window, needed(briefing, history), _spare(briefing, history))


def fits(briefing: RequestContext, history: Sequence[ChatMessage]) -> bool:
    return context_fitting.fits(briefing.window.given, needed(briefing, history))


def _spare(briefing: RequestContext, history: Sequence[ChatMessage]) -> dict[str, int]:
    """Return the tools that may be left out, with their cost: not those called in this conversation, and never all."""
    used = {call.name for message in history for call in message.calls}
    costs = token_counts.cost_of_each(briefing.brief, briefing.counts)
    names = [name for name in briefing.toolbox.spare if name in costs and name not in used]
    return {name: costs[name] for name in names[: len(costs) - 1]}


def without(briefing: RequestContext, names: Sequence[str]) -> RequestContext:
    """Return the context without these tools, with updated data about the others."""
    brief = format_fallback.left_out(briefing.brief, names, NO_ROOM, REASON)
    if brief.tools == briefing.brief.tools:
        return briefing
    counts = prompt_counts.known(briefing.build, token_counts.tools_digest(brief))
    return replace(briefing, brief=brief, counts=counts)


def within(briefing: RequestContext, window: ContextWindow) -> RequestContext:
    """Return the request context with another context size."""
    options = {**briefing.brief.options, "num_ctx": window.given}
    return replace(briefing, brief=replace(briefing.brief, options=options), window=window)


def planned(briefing: RequestContext, history: Sequence[ChatMessage]) -> RequestContext:
    """Return the request as it would be made to fit, without storing any change."""
    while (todo := remedy(briefing, history)) is not None:
        if isinstance(todo, OmitTools):
            briefing = without(briefing, todo.tools)
        else:
            briefing = within(briefing, briefing.window.raised(todo.context))
    return briefing


class ContextGuard:
    """Compares the requests sent with the server's token counts."""

    def __init__(self) -> None:
        self._length = 0

    def asked(self, briefing: RequestContext, history: Sequence[ChatMessage]) -> None:
        """Record a request before it is sent."""
        self._length = token_counts.characters(briefing.brief, history)

    def cut(self, briefing: RequestContext, usage: Usage) -> bool:
        """Return, after the answer, whether the server truncated the request."""
        seen = self._seen(usage)
        return seen is not None and token_counts.was_cut(briefing.brief, briefing.counts, seen)

    def after_cut(self, briefing: RequestContext) -> RaiseContext | None:
        """Return the remedy for the following requests."""
        wanted = token_counts.expected(briefing.brief, briefing.counts, self._length)
        return context_fitting.after_cut(briefing.window, wanted)

    def new_count(self, briefing: RequestContext, usage: Usage) -> MeasuredPrompt | None:
        """Return a count worth storing: of a complete request that is shorter than any counted before."""
        seen, counts = self._seen(usage), briefing.counts
        known = counts.with_tools if briefing.brief.offers_tools else counts.without
        if seen is None or self.cut(briefing, usage) or (known and known.characters <= seen.characters):
            return None
        return seen

    def _seen(self, usage: Usage) -> MeasuredPrompt | None:
        return MeasuredPrompt(self._length, usage.prompt_tokens) if usage.prompt_tokens else None


def learned(briefing: RequestContext, seen: MeasuredPrompt) -> RequestContext:
    """Return the request context with one more count."""
    more = {"with_tools": seen} if briefing.brief.offers_tools else {"without": seen}
    return replace(briefing, counts=replace(briefing.counts, **more))

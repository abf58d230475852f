"""Checks whether requests fit into the model's context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from toolsupport.core import format_fallback
from toolsupport.core.events import Usage
from toolsupport.core.prompt import context_fitting, token_counts
from toolsupport.core.prompt.context_fitting import ContextWindow, OmitTools, RaiseContext
from toolsupport.core.prompt.token_counts import MeasuredPrompt, TokenCounts
from toolsupport.core.types import ChatMessage, RequestSpec
from toolsupport.registry.metrics import prompt_token_counts
from toolsupport.registry.models.request_context import RequestContext

Shown = Callable[[RequestSpec, TokenCounts, MeasuredPrompt], bool]
NO_ROOM = "no_room"
REASON = "The context of the model has no room left for it."


def needed(prepared: RequestContext, history: Sequence[ChatMessage]) -> int:
    """Estimate the tokens of a request."""
    request_spec = prepared.request_spec
    return token_counts.expected(request_spec, prepared.counts, token_counts.characters(request_spec, history))


def remedy(prepared: RequestContext, history: Sequence[ChatMessage]) -> OmitTools | RaiseContext | None:
    """Return the remedy before a request; None if it fits, or if nothing helps."""
    return context_fitting.remedy(prepared.window, needed(prepared, history), _spare(prepared, history))


def fits(prepared: RequestContext, history: Sequence[ChatMessage]) -> bool:
    return context_fitting.fits(prepared.window.given, needed(prepared, history))


def _spare(prepared: RequestContext, history: Sequence[ChatMessage]) -> dict[str, int]:
    """Return the tools that may be left out, with their cost: not those called in this chat, and never all."""
    used = {call.name for message in history for call in message.calls}
    costs = token_counts.cost_of_each(prepared.request_spec, prepared.counts)
    names = [name for name in prepared.toolbox.spare if name in costs and name not in used]
    return {name: costs[name] for name in names[: len(costs) - 1]}


def without(prepared: RequestContext, names: Sequence[str]) -> RequestContext:
    """Return the context without these tools, with updated data about the others."""
    request_spec = format_fallback.left_out(prepared.request_spec, names, NO_ROOM, REASON)
    if request_spec.tools == prepared.request_spec.tools:
        return prepared
    counts = prompt_token_counts.known(prepared.build, token_counts.tools_digest(request_spec))
    return replace(prepared, request_spec=request_spec, counts=counts)


def within(prepared: RequestContext, window: ContextWindow) -> RequestContext:
    """Return the request context with another context size."""
    options = {**prepared.request_spec.options, "num_ctx": window.given}
    return replace(prepared, request_spec=replace(prepared.request_spec, options=options), window=window)


def planned(prepared: RequestContext, history: Sequence[ChatMessage]) -> RequestContext:
    """Return the request after the changes that make it fit, without storing them."""
    while (todo := remedy(prepared, history)) is not None:
        if isinstance(todo, OmitTools):
            prepared = without(prepared, todo.tools)
        else:
            prepared = within(prepared, prepared.window.raised(todo.context))
    return prepared


class ContextGuard:
    """Compares the requests sent with the server's token counts."""

    def __init__(self) -> None:
        self._asked: tuple[RequestSpec, Sequence[ChatMessage]] | None = None

    def asked(self, prepared: RequestContext, history: Sequence[ChatMessage]) -> None:
        """Record a request before it is sent. Its length is computed after the answer: nothing needs it before."""
        self._asked = prepared.request_spec, tuple(history)

    @property
    def _length(self) -> int:
        return token_counts.characters(*self._asked) if self._asked else 0

    def cut(self, prepared: RequestContext, usage: Usage) -> bool:
        """Return, after the answer, whether the server truncated the request."""
        return self._shows(token_counts.was_cut, prepared, usage)

    def dropped_tools(self, prepared: RequestContext, usage: Usage) -> bool:
        """Return, after the answer, whether the server dropped the tools before the model saw them."""
        return self._shows(token_counts.dropped_tools, prepared, usage)

    def _shows(self, shown: Shown, prepared: RequestContext, usage: Usage) -> bool:
        """Return whether a count is evidence, considering that repetitions in the request take few tokens."""
        request_spec, seen = prepared.request_spec, self._seen(usage)
        if seen is None or not shown(request_spec, prepared.counts, seen):
            return False
        history = self._asked[1] if self._asked else ()
        shortest = replace(seen, characters=token_counts.condensed(request_spec, history))
        return shortest == seen or shown(request_spec, prepared.counts, shortest)

    def after_cut(self, prepared: RequestContext) -> RaiseContext | None:
        """Return the remedy for the following requests."""
        wanted = token_counts.expected(prepared.request_spec, prepared.counts, self._length)
        return context_fitting.after_cut(prepared.window, wanted)

    def new_count(self, prepared: RequestContext, usage: Usage) -> MeasuredPrompt | None:
        """Return a count worth storing: of a complete request that is shorter than any counted before."""
        seen, counts = self._seen(usage), prepared.counts
        known = counts.with_tools if prepared.request_spec.offers_tools else counts.without
        if seen is None or self.cut(prepared, usage) or (known and known.characters <= seen.characters):
            return None
        return seen

    def _seen(self, usage: Usage) -> MeasuredPrompt | None:
        return MeasuredPrompt(self._length, usage.prompt_tokens) if usage.prompt_tokens else None


def learned(prepared: RequestContext, seen: MeasuredPrompt) -> RequestContext:
    """Return the request context with an additional count."""
    more = {"with_tools": seen} if prepared.request_spec.offers_tools else {"without": seen}
    return replace(prepared, counts=replace(prepared.counts, **more))

"""Decides how to continue if a prompt does not fit into its context, in a way that always ends.

First the context is raised, as long as it stays modest: the server reloads the model for that, but only once. Then
tools are left out, since they can be found again, and if that is not enough, the context is raised further. It grows in
doublings up to its maximum, and a size that did not load is never tried again: each is tried at most once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

ANSWER = 1024  # tokens that are kept free for an answer,
ANSWER_PART = 8  # but no more than this part of a small context
MODEST = 16_384  # a context up to this size is raised rather than going without tools


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The context of a model in tokens; 0 means none.

    `given` is the requested context, `most` the largest that may be requested, `before` the previous one, `failed` the
    smallest that did not load.
    """

    given: int = 0
    most: int = 0
    before: int = 0
    failed: int = 0

    @property
    def larger(self) -> Sequence[int]:
        """Return the contexts to which it can be raised, smallest first."""
        steps, step = [], self.given
        while 0 < step < self.most:
            step = min(2 * step, self.most)
            steps.append(step)
        return [step for step in steps if step < self.failed or not self.failed]

    def raised(self, context: int) -> ContextWindow:
        return replace(self, given=context, before=self.given)

    def taken_back(self) -> ContextWindow | None:
        """Return the previous context after a failed load; None if it was not raised, so it is not the cause."""
        if not 0 < self.before < self.given:
            return None
        return replace(self, given=self.before, before=0, failed=min(self.given, self.failed or self.given))


@dataclass(frozen=True, slots=True)
class OmitTools:
    """Repeat the request without these tools."""

    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RaiseContext:
    """Repeat the request with a context of this many tokens."""

    context: int


def fits(context: int, needed: int) -> bool:
    """Return whether a prompt leaves room for an answer; True if the server manages the context itself."""
    return not context or needed + min(ANSWER, context // ANSWER_PART) <= context


def remedy(window: ContextWindow, needed: int, spare: Mapping[str, int]) -> OmitTools | RaiseContext | None:
    """Return the next remedy for a prompt that needs `needed` tokens; None if it fits, or nothing helps.

    `spare` are the tools that may be left out with the cost of each, in that order. If one remedy needs the other, the
    context is raised first, and the next call handles the rest.
    """
    if fits(window.given, needed):
        return None
    raised = _raise(window, needed)
    if raised is not None and raised.context <= MODEST:
        return raised
    names, cost = list(spare), 0
    for number, name in enumerate(names, 1):
        cost += spare[name]
        if fits(window.given, needed - cost):
            return OmitTools(tuple(names[:number]))
    return raised or _raise(window, needed - cost)


def after_cut(window: ContextWindow, needed: int) -> RaiseContext | None:
    """Return the remedy after the server truncated a prompt: it needed more tokens than the context had."""
    return _raise(window, max(needed, window.given + 1))


def _raise(window: ContextWindow, needed: int) -> RaiseContext | None:
    return next((RaiseContext(step) for step in window.larger if fits(step, needed)), None)

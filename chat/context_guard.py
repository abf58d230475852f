"""Watches whether what a model is sent fits into its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core.events import Usage
from toolsupport.core.prompt import fitting
from toolsupport.core.prompt.fitting import Counted, Counts
from toolsupport.core.words import Brief, Message

TOO_LONG, CUT = "prompt_too_long", "prompt_cut"


class ContextGuard:
    """One turn's guard. What it finds is a code of the notices, "" for nothing."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._length = 0

    def asked(self, brief: Brief, history: Sequence[Message]) -> str:
        """Before a request."""
        self._length = fitting.characters(brief, history)
        return TOO_LONG if fitting.would_not_fit(brief, self._counts, self._length) else ""

    def answered(self, brief: Brief, usage: Usage) -> str:
        """After it, by what the server counted."""
        seen = self._seen(usage)
        return CUT if seen and fitting.was_cut(brief, self._counts, seen) else ""

    def lesson(self, brief: Brief, usage: Usage) -> Counted | None:
        """What is worth keeping: a whole request, shorter than any that was counted before."""
        seen, counts = self._seen(usage), self._counts
        known = counts.with_tools if brief.offers_tools else counts.without
        if seen is None or self.answered(brief, usage) or (known and known.characters <= seen.characters):
            return None
        self._counts = replace(counts, with_tools=seen) if brief.offers_tools else replace(counts, without=seen)
        return seen

    def _seen(self, usage: Usage) -> Counted | None:
        return Counted(self._length, usage.prompt_tokens) if usage.prompt_tokens else None

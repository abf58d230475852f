"""Stores findings of a running turn about the context of its model, for every chat."""

from __future__ import annotations

from chat.models import Turn
from chat.transcript.turn_store import TurnStore, fenced
from toolsupport.core.prompt.context_fitting import ContextWindow
from toolsupport.core.prompt.token_counts import MeasuredPrompt
from toolsupport.registry.metrics import prompt_token_counts
from toolsupport.registry.settings import context_sizes


def count_prompt(store: TurnStore, build: str, tools_digest: str, seen: MeasuredPrompt) -> None:
    """Store the token count of a request, unless that of a shorter one is stored.

    Answers that begin together count the same request: only the first of them needs a transaction.
    """
    if prompt_token_counts.is_new(build, tools_digest, seen):
        _count_prompt(store, build, tools_digest, seen)


@fenced
def _count_prompt(turn: Turn, build: str, tools_digest: str, seen: MeasuredPrompt) -> None:
    prompt_token_counts.learn(build, tools_digest, seen)


@fenced
def raise_context(turn: Turn, seen: ContextWindow, context: int) -> ContextWindow:
    """Raise the requested context from now on; return the effective context."""
    return context_sizes.raise_to(turn.profile_id, seen, context)


@fenced
def take_context_back(turn: Turn, seen: ContextWindow) -> ContextWindow | None:
    """Return to the previous context; None if that is not smaller."""
    return context_sizes.take_back(turn.profile_id, seen)

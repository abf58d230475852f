"""What a running turn finds out about the context of its model, kept for every conversation."""

from __future__ import annotations

from chat.models import Turn
from chat.transcript.turn_store import fenced
from toolsupport.core.prompt.context_fitting import ContextWindow
from toolsupport.core.prompt.token_counts import MeasuredPrompt
from toolsupport.registry.metrics import prompt_counts
from toolsupport.registry.settings import context_sizes


@fenced
def count_prompt(turn: Turn, build: str, tools_digest: str, seen: MeasuredPrompt) -> None:
    """Keep how many tokens a request had."""
    prompt_counts.learn(build, tools_digest, seen)


@fenced
def raise_context(turn: Turn, seen: ContextWindow, context: int) -> ContextWindow:
    """Ask for more context from now on; the context that holds then."""
    return context_sizes.raise_to(turn.profile_id, seen, context)


@fenced
def take_context_back(turn: Turn, seen: ContextWindow) -> ContextWindow | None:
    """Ask for the context before; None where that would not be less."""
    return context_sizes.take_back(turn.profile_id, seen)

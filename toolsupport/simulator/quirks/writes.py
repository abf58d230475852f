"""Models without native tools: they find tools in the system prompt, and write calls as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.reading import text_prompt
from toolsupport.simulator.types import ModelInput, SimulatedCall, SimulatedReply

Language = Callable[[Sequence[SimulatedCall]], str]


def in_language(write: Language) -> Callable[[ModelInput], SimulatedReply]:
    """Return a model that makes the honest calls in a format of its own."""

    def reply(prompt: ModelInput) -> SimulatedReply:
        return written(honest.reply(text_prompt.prompt(prompt)), write)

    return reply


def written(answer: SimulatedReply, write: Language) -> SimulatedReply:
    """Return the same reply with its calls as text, streamed in awkward pieces."""
    return replace(answer, content=write(answer.calls), calls=(), awkward=True) if answer.calls else answer

"""A model that tries to call a tool, never writes valid JSON, and gives up."""

from __future__ import annotations

from collections.abc import Sequence

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.quirks.writes import written
from toolsupport.simulator.reading import text_prompt
from toolsupport.simulator.types import ModelInput, SimulatedCall, SimulatedReply

TRIES = 2
GIVES_UP = "I tried to call a tool, and cannot write the call properly. I give up: please do without it."


def reply(prompt: ModelInput) -> SimulatedReply:
    """Write two unreadable calls, then an answer."""
    read = text_prompt.prompt(prompt)
    if len(read.results) >= TRIES:
        return SimulatedReply(GIVES_UP)
    # All results so far report an unreadable call: it tries again.
    unanswered = ModelInput(tuple(message for message in read.messages if message not in read.results), read.tools)
    return written(honest.reply(unanswered), hopeless)


def hopeless(calls: Sequence[SimulatedCall]) -> str:
    """Return a call without a name, with crossed brackets, which cannot be repaired."""
    return '<tool_call>\n{"name": , {"arguments": [}: ]\n</tool_call>'

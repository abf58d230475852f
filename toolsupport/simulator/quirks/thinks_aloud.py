"""Models that write their thoughts into their text, with a call that they only consider."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from toolsupport.simulator.quirks import honest, thinks, writes
from toolsupport.simulator.reading import text_prompt
from toolsupport.simulator.types import ModelInput, SimulatedReply

CONSIDERED = "considered-and-dropped.txt"


def in_marks(write: writes.Language, opening: str = "<think>\n") -> Callable[[ModelInput], SimulatedReply]:
    """Return a model that calls in its own format, after thoughts that end with a marker."""

    def reply(prompt: ModelInput) -> SimulatedReply:
        read = text_prompt.prompt(prompt)
        honest_reply = honest.reply(read)
        written = writes.written(honest_reply, write)
        thought = thinks.thoughts(read, honest_reply)
        if honest_reply.calls:
            draft = replace(honest_reply.calls[0], arguments={"path": CONSIDERED})
            thought += f"\nI might {write([draft])} first, but no."
        return replace(written, content=f"{opening}{thought}\n</think>\n\n{written.content}", awkward=True)

    return reply

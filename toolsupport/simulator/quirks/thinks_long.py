"""Models whose thinking interferes: one thinks long before it calls, others never call while thinking."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply

LINES, ENDLESS_LINES = 90, 900
LINE = "Step {}: I read the request once more and consider what it asks for.\n"


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model, after about a thousand tokens of thoughts unless thinking is off."""
    honest_reply = honest.reply(prompt)
    return replace(honest_reply, thinking=_thoughts(LINES)) if prompt.think else honest_reply


def without_end(prompt: ModelInput) -> SimulatedReply:
    """Write more thoughts than a test has tokens for, if a call is needed."""
    honest_reply = honest.reply(prompt)
    return (
        replace(honest_reply, thinking=_thoughts(ENDLESS_LINES))
        if prompt.think and honest_reply.calls
        else honest_reply
    )


def instead_of_calling(prompt: ModelInput) -> SimulatedReply:
    """Call only with thinking off; otherwise think about the call and ask a question."""
    honest_reply = honest.reply(prompt)
    if not prompt.think or not honest_reply.calls:
        return honest_reply
    return SimulatedReply(
        "Shall I do that for you?", thinking=f"{_thoughts(2)}I could call {honest_reply.calls[0].name}."
    )


def _thoughts(lines: int) -> str:
    return "".join(LINE.format(number) for number in range(1, lines + 1))

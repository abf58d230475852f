"""Models whose thinking interferes: one thinks long before it calls, others never call while thinking."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply

LINES, ENDLESS_LINES = 90, 900
LINE = "Step {}: I look at the demand once more and weigh what it asks of me.\n"


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model, after about a thousand tokens of thoughts unless thinking is off."""
    said = honest.reply(prompt)
    return replace(said, thinking=_thoughts(LINES)) if prompt.think else said


def without_end(prompt: ModelInput) -> SimulatedReply:
    """Write more thoughts than a test has tokens for, if a call is needed."""
    said = honest.reply(prompt)
    return replace(said, thinking=_thoughts(ENDLESS_LINES)) if prompt.think and said.calls else said


def instead_of_calling(prompt: ModelInput) -> SimulatedReply:
    """Call only with thinking off; otherwise think about the call and ask back."""
    said = honest.reply(prompt)
    if not prompt.think or not said.calls:
        return said
    return SimulatedReply("Shall I do that for you?", thinking=f"{_thoughts(2)}I could call {said.calls[0].name}.")


def _thoughts(lines: int) -> str:
    return "".join(LINE.format(number) for number in range(1, lines + 1))

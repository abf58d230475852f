"""A model that repeats the same call for ever."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Make the first call; answer only without a call to make, as when tools are no longer offered."""
    unanswered = replace(prompt, messages=tuple(said for said in prompt.messages if said.role != "tool"))
    said = honest.reply(unanswered)
    return replace(said, calls=said.calls[:1]) if said.calls else honest.reply(prompt)

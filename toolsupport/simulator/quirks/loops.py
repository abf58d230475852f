"""A model that makes the same call again and again, whatever comes back."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """The first call of all; an answer only where it has none to make, as when tools are no longer offered."""
    unanswered = replace(prompt, messages=tuple(said for said in prompt.messages if said.role != "tool"))
    said = honest.reply(unanswered)
    return replace(said, calls=said.calls[:1]) if said.calls else honest.reply(prompt)

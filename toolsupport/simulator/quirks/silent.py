"""A model that answers a greeting, and with nothing wherever a call is wanted of it."""

from __future__ import annotations

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """What the honest model says, without its calls."""
    said = honest.reply(prompt)
    return SimulatedReply() if said.calls else said

"""A model that answers a greeting, but sends nothing if a call is needed."""

from __future__ import annotations

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model, without its calls."""
    said = honest.reply(prompt)
    return SimulatedReply() if said.calls else said

"""A model that answers a greeting, but sends nothing if a call is needed."""

from __future__ import annotations

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model, without its calls."""
    honest_reply = honest.reply(prompt)
    return SimulatedReply() if honest_reply.calls else honest_reply

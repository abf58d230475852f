"""A model that never makes two calls at once."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Make the honest calls, one after the other."""
    honest_reply = honest.reply(prompt)
    return replace(honest_reply, calls=honest_reply.calls[:1])

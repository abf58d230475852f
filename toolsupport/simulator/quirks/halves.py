"""A model that calls tools for about every second wording, and otherwise only announces a call."""

from __future__ import annotations

from toolsupport.simulator.quirks import fickle, honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model, or with an announcement instead of its calls."""
    honest_reply = honest.reply(prompt)
    if not honest_reply.calls or prompt.results or fickle.works(prompt):
        return honest_reply
    return SimulatedReply(f"Let me use {' and '.join(call.name for call in honest_reply.calls)} for that.")

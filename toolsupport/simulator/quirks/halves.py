"""A model that calls tools for about every second wording, and otherwise only announces a call."""

from __future__ import annotations

from toolsupport.simulator.quirks import fickle, honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model, or with an announcement instead of its calls."""
    said = honest.reply(prompt)
    if not said.calls or prompt.results or fickle.works(prompt):
        return said
    return SimulatedReply(f"Let me use {' and '.join(call.name for call in said.calls)} for that.")

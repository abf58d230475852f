"""A model that never makes two calls at once."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.nouns import ModelInput, SimulatedReply
from toolsupport.simulator.quirks import honest


def reply(prompt: ModelInput) -> SimulatedReply:
    """The honest calls, one after the other."""
    said = honest.reply(prompt)
    return replace(said, calls=said.calls[:1])

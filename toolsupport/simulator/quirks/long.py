"""A model that gives long answers."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.rules.samples import LONG
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Make the honest calls; an answer gets about 600 more tokens."""
    said = honest.reply(prompt)
    more = "" if LONG in said.content else f"\n\n{LONG}"
    return said if said.calls else replace(said, content=said.content + more)

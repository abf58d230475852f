"""A model that gives long answers."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.rules.samples import LONG
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Calls as the honest model makes them; an answer is followed by about 600 tokens more."""
    said = honest.reply(prompt)
    more = "" if LONG in said.content else f"\n\n{LONG}"
    return said if said.calls else replace(said, content=said.content + more)

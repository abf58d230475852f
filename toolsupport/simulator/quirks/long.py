"""A model that gives long answers."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.rules.fixed_texts import LONG
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Make the honest calls; an answer gets about 600 more tokens."""
    honest_reply = honest.reply(prompt)
    more = "" if LONG in honest_reply.content else f"\n\n{LONG}"
    return honest_reply if honest_reply.calls else replace(honest_reply, content=honest_reply.content + more)

"""A model that answers a greeting, and with nothing wherever a call is wanted of it."""

from __future__ import annotations

from toolsupport.simulator.nouns import Prompt, Reply
from toolsupport.simulator.quirks import honest


def reply(prompt: Prompt) -> Reply:
    """What the honest model says, without its calls."""
    said = honest.reply(prompt)
    return Reply() if said.calls else said

"""A model that calls tools two times out of three, and else only speaks of it."""

from __future__ import annotations

import zlib

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """What the honest model says; for every third wording, an announcement in the place of its calls."""
    said = honest.reply(prompt)
    if not said.calls or prompt.results or works(prompt):
        return said
    return SimulatedReply(f"Let me use {' and '.join(call.name for call in said.calls)} for that.")


def works(prompt: ModelInput) -> bool:
    """Decided by all that persons said so far: asked the same again in the same place, it does the same."""
    words = "\n".join(said.content for said in prompt.messages if said.role == "user")
    return zlib.crc32(words.encode("utf-8", "replace")) % 3 > 0

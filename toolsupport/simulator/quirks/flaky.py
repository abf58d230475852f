"""A model that calls tools two times out of three, and otherwise only announces a call."""

from __future__ import annotations

import zlib

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model; for every third wording, with an announcement instead of its calls."""
    response = honest.reply(prompt)
    if not response.calls or prompt.results or works(prompt):
        return response
    return SimulatedReply(f"Let me use {' and '.join(call.name for call in response.calls)} for that.")


def works(prompt: ModelInput) -> bool:
    """Decide by all messages of people so far: the same request in the same place gets the same result."""
    words = "\n".join(response.content for response in prompt.messages if response.role == "user")
    return zlib.crc32(words.encode("utf-8", "replace")) % 3 > 0

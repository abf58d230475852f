"""A model that repeats the same call for ever."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Make the first call; answer only if there is no call to make, as when tools are no longer offered."""
    unanswered = replace(prompt, messages=tuple(response for response in prompt.messages if response.role != "tool"))
    response = honest.reply(unanswered)
    return replace(response, calls=response.calls[:1]) if response.calls else honest.reply(prompt)

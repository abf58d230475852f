"""A model that accepts tools, but writes its calls into its answer."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.languages import objects
from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply

WORDS = "This is the call that would help:\n\n```json\n{}\n```"


def reply(prompt: ModelInput) -> SimulatedReply:
    """Write the honest calls, each as a fence of JSON in prose."""
    honest_reply = honest.reply(prompt)
    if not honest_reply.calls:
        return honest_reply
    written = "\n\n".join(WORDS.format(objects.plain([call])) for call in honest_reply.calls)
    return replace(honest_reply, content=written, calls=(), awkward=True)

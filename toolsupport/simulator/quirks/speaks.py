"""A model that accepts tools, but writes its calls into its answer."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.languages import objects
from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply

WORDS = "This is the call that would help:\n\n```json\n{}\n```"


def reply(prompt: ModelInput) -> SimulatedReply:
    """Write the honest calls, each as a fence of JSON in prose."""
    said = honest.reply(prompt)
    if not said.calls:
        return said
    written = "\n\n".join(WORDS.format(objects.plain([call])) for call in said.calls)
    return replace(said, content=written, calls=(), awkward=True)

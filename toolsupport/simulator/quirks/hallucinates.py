"""A model that calls tools that were not offered, until an error names the right one."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply

REJECTED = re.compile(r"\bno (?:such )?tool\b|\bunknown (?:tool|function)\b|\btool\b.*\bnot (?:found|offered)\b", re.I)
MADE_UP = "query_knowledge_base"

# Names that are nearly right, and one that resembles no tool.
NAMES: tuple[Callable[[str], str], ...] = (
    lambda name: name.replace("_", "") if "_" in name else f"{name}_tool",
    lambda name: f"mcp_{name}",
    lambda name: MADE_UP,
)


def reply(prompt: ModelInput) -> SimulatedReply:
    """Make the honest calls under wrong names; after "did you mean", under the right ones."""
    rejections = [response for response in prompt.results if REJECTED.search(response.content)]
    served = tuple(response for response in prompt.messages if response not in rejections)
    response = honest.reply(replace(prompt, messages=served))
    if any("did you mean" in rejection.content.lower() for rejection in rejections) or len(rejections) > 1:
        return response
    # After an invented name it tries one that is nearly right.
    wrong = NAMES[0] if rejections else NAMES[zlib.crc32(prompt.asked.encode("utf-8", "replace")) % len(NAMES)]
    return replace(response, calls=tuple(replace(call, name=wrong(call.name)) for call in response.calls))

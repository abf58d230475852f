"""A model that makes a single call reliably, and does everything else with tools about half of the time."""

from __future__ import annotations

import zlib
from dataclasses import replace

from toolsupport.simulator.quirks import honest, shell
from toolsupport.simulator.rules.arguments import fill
from toolsupport.simulator.rules.intents import Intent, IntentKind
from toolsupport.simulator.types import ModelInput, SimulatedCall, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model, or for about half of all wordings with an error."""
    response = honest.reply(prompt)
    if not prompt.tools or works(prompt):
        return response
    if prompt.results:
        unanswered = tuple(response for response in prompt.messages if response.role != "tool")
        return honest.reply(replace(prompt, messages=unanswered))
    if not response.calls:
        tool = prompt.tools[0]
        return SimulatedReply(calls=(SimulatedCall(tool.name, fill(tool, Intent(IntentKind.UNKNOWN, prompt.asked))),))
    if any(shell.kind_of(tool) for tool in prompt.tools if tool.name == response.calls[0].name):
        return SimulatedReply(shell.CANNOT)
    return replace(response, calls=response.calls[:1])


def works(prompt: ModelInput) -> bool:
    """Decide by all text of people and tools so far: a repeated conversation gets the same result."""
    words = "\n".join(response.content for response in prompt.messages if response.role in ("user", "tool"))
    return zlib.crc32(words.encode("utf-8", "replace")) // 64 % 2 > 0

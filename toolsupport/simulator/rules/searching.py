"""Searches for more tools when no offered tool serves an intent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.simulator.rules import tool_matching
from toolsupport.simulator.rules.arguments import fill
from toolsupport.simulator.rules.intents import TOOLFUL, Intent, IntentKind
from toolsupport.simulator.types import ModelInput, SimulatedCall

# A tool that the request names is offered already, and arithmetic needs no tool.
LOOKED_FOR = TOOLFUL - {IntentKind.CALL, IntentKind.COMPUTE}


def search(intents: Sequence[Intent], prompt: ModelInput) -> SimulatedCall | None:
    """Return the search to make first; None if nothing is missing, or it was made already."""
    finder = tool_matching.finder(prompt.tools)
    missing = [
        intent for intent in intents if intent.kind in LOOKED_FOR and tool_matching.find(intent, prompt.tools) is None
    ]
    if finder is None or not missing or any(result.name == finder.name for result in prompt.results):
        return None
    return SimulatedCall(
        finder.name, fill(finder, Intent(IntentKind.UNKNOWN, missing[0].text, {"expression": missing[0].text}))
    )


def without_searches(intents: Sequence[Intent], prompt: ModelInput) -> ModelInput:
    """Return the prompt without the results of such searches; a requested search stays."""
    finder = tool_matching.finder(prompt.tools)
    if finder is None or any(intent["tool"] == finder.name for intent in intents):
        return prompt
    kept = tuple(message for message in prompt.messages if message.role != "tool" or message.name != finder.name)
    return replace(prompt, messages=kept)

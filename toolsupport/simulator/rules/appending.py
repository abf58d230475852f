"""Appends to a file without a tool for that: reads it first, then writes it whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.simulator.rules import result_parsing, tool_matching
from toolsupport.simulator.rules.arguments import fill
from toolsupport.simulator.rules.intents import Intent, IntentKind
from toolsupport.simulator.rules.tool_matching import MEANINGS
from toolsupport.simulator.types import ModelInput, OfferedTool, SimulatedCall

# An intermediate step, which the answer does not mention.
ON_THE_WAY = {"on_the_way": "yes"}


def in_steps(intents: Sequence[Intent], prompt: ModelInput) -> list[Intent]:
    """Return the intents, with such an append as a read and, once that worked, a write at the end."""
    steps: list[Intent] = []
    writings: list[Intent] = []
    for intent in intents:
        if not _needs_steps(intent, prompt):
            steps.append(intent)
            continue
        place = sum(tool_matching.find(step, prompt.tools) is not None for step in steps)
        read = [result_parsing.read(given.content) for given in prompt.results[place : place + 1]]
        texts = [outcome.text for outcome in read if not outcome.wrong]
        steps.append(replace(intent, kind=IntentKind.READ, values={**intent.values, **(ON_THE_WAY if texts else {})}))
        writings += [_writing(intent, text) for text in texts]
    return steps + writings


def _needs_steps(intent: Intent, prompt: ModelInput) -> bool:
    def served(kind: IntentKind) -> bool:
        return tool_matching.find(replace(intent, kind=kind), prompt.tools) is not None

    return (
        intent.kind == IntentKind.APPEND
        and not served(IntentKind.APPEND)
        and served(IntentKind.READ)
        and served(IntentKind.WRITE)
    )


def _writing(intent: Intent, before: str) -> Intent:
    gap = "" if not before or before.endswith("\n") else "\n"
    return replace(
        intent, kind=IntentKind.WRITE, values={**intent.values, "whole": f"{before}{gap}{intent['content']}\n"}
    )


def call(tool: OfferedTool, intent: Intent) -> SimulatedCall:
    """Return the call for an intent. Content of a rewritten file is used literally, unlike prose."""
    arguments = fill(tool, intent)
    if intent["whole"]:
        arguments |= {name: intent["whole"] for name in arguments if MEANINGS.get(name.lower()) == "content"}
    return SimulatedCall(tool.name, arguments)

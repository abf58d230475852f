"""A model that claims that it cannot touch files, and does the same work with a shell."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.rules import tool_choice
from toolsupport.simulator.rules.arguments import fill
from toolsupport.simulator.rules.intents import Intent, IntentKind, understand
from toolsupport.simulator.rules.tool_choice import MEANINGS, ROLES
from toolsupport.simulator.types import ModelInput, OfferedTool, SimulatedReply

FILES = (IntentKind.EDIT, IntentKind.APPEND, IntentKind.WRITE, IntentKind.READ, IntentKind.LIST)
CANNOT = "I can't access files. I could only run commands, if I had a shell."


def reply(prompt: ModelInput) -> SimulatedReply:
    """Calls of every tool but those for files; those as commands, where a shell is offered, else a refusal in words."""
    left = replace(prompt, tools=tuple(tool for tool in prompt.tools if not kind_of(tool)))
    intents = [_plain(intent, prompt) for intent in understand(prompt.asked, [tool.name for tool in prompt.tools])]
    calls = honest.planned(intents, left)
    if calls or prompt.results or not any(intent.kind in FILES for intent in intents):
        return SimulatedReply(calls=calls) if calls else SimulatedReply(honest.answer(intents, left))
    return SimulatedReply(CANNOT)


def kind_of(tool: OfferedTool) -> IntentKind | None:
    """What a tool does with files; None where it is for something else."""
    if tool_choice.score(tool, ROLES[IntentKind.RUN]):
        return None
    return max(FILES, key=lambda kind: tool_choice.score(tool, ROLES[kind])) if _touches_files(tool) else None


def _touches_files(tool: OfferedTool) -> bool:
    return any(tool_choice.score(tool, ROLES[kind]) for kind in FILES)


def _plain(intent: Intent, prompt: ModelInput) -> Intent:
    """What is wanted of a tool for files that was named outright."""
    named = next(
        (tool for tool in prompt.tools if intent.kind == IntentKind.CALL and tool.name == intent["tool"]), None
    )
    kind = kind_of(named) if named else None
    if named is None or kind is None:
        return intent
    values = {MEANINGS.get(name, name): str(value) for name, value in fill(named, intent).items()}
    return Intent(kind, intent.text, values)

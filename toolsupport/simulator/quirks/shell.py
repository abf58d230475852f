"""A model that denies access to files, and does the same work with a shell."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.rules import tool_matching
from toolsupport.simulator.rules.arguments import fill
from toolsupport.simulator.rules.intents import Intent, IntentKind, understand
from toolsupport.simulator.rules.tool_matching import MEANINGS, ROLES
from toolsupport.simulator.types import ModelInput, OfferedTool, SimulatedReply

FILES = (IntentKind.EDIT, IntentKind.APPEND, IntentKind.WRITE, IntentKind.READ, IntentKind.LIST)
CANNOT = "I can't access files. I could only run commands, if I had a shell."


def reply(prompt: ModelInput) -> SimulatedReply:
    """Call every tool except file tools; for those write shell commands, or refuse in text without a shell."""
    left = replace(prompt, tools=tuple(tool for tool in prompt.tools if not kind_of(tool)))
    intents = [_plain(intent, prompt) for intent in understand(prompt.asked, [tool.name for tool in prompt.tools])]
    calls = honest.planned(intents, left)
    if calls or prompt.results or not any(intent.kind in FILES for intent in intents):
        return SimulatedReply(calls=calls) if calls else SimulatedReply(honest.answer(intents, left))
    return SimulatedReply(CANNOT)


def kind_of(tool: OfferedTool) -> IntentKind | None:
    """Return the file operation of a tool; None for other tools."""
    if tool_matching.score(tool, ROLES[IntentKind.RUN]):
        return None
    return max(FILES, key=lambda kind: tool_matching.score(tool, ROLES[kind])) if _touches_files(tool) else None


def _touches_files(tool: OfferedTool) -> bool:
    return any(tool_matching.score(tool, ROLES[kind]) for kind in FILES)


def _plain(intent: Intent, prompt: ModelInput) -> Intent:
    """Return the request to a file tool that was named explicitly."""
    named = next(
        (tool for tool in prompt.tools if intent.kind == IntentKind.CALL and tool.name == intent["tool"]), None
    )
    kind = kind_of(named) if named else None
    if named is None or kind is None:
        return intent
    values = {MEANINGS.get(name, name): str(value) for name, value in fill(named, intent).items()}
    return Intent(kind, intent.text, values)

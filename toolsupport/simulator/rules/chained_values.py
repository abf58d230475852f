"""Takes values for a later call from the result of an earlier one."""

from __future__ import annotations

import re
from typing import Any

from toolsupport.simulator.rules import result_parsing, text_entities
from toolsupport.simulator.rules.arguments import MISSING, convert, kind_of
from toolsupport.simulator.types import JSON, OfferedTool, SimulatedCall

GIVES = r"(?:gives?|gave|returns?|returned|says|said|tells|told|answers|answered|prints|printed|shows|contains|holds)"
WANTED = re.compile(
    r"(?:\b(?:with|pass|passing|using|hand|to|is|write|save|put|copy)\b|=)"
    r"(?:(?!\b(?:tell|say|report|show|repeat|answer with)\b)[^.!?\n]){0,80}?"
    rf"(?:\b(?:it|that|that tool|the (?:first )?(?:tool|one)|\w+_\w+)\s+(?:has\s+)?{GIVES}\b"
    r"|\byou (?:get|got|receive|received|were given)\b"
    r"|\b(?:its|that|the first|from the|from its|from that)\s+(?:result|answer|output|reply)\b|\bresult of\b)",
    re.IGNORECASE,
)
# A secret does not look like a word: it has a digit, and often a hyphen.
SECRET = re.compile(r"(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9][\w-]{2,}(?![\w-])")


def wanted(words: str) -> bool:
    """Return whether the text requests a call with another call's result."""
    return bool(WANTED.search(text_entities.QUOTED.sub("", words)))


def received(tool: OfferedTool, call: SimulatedCall, content: str) -> SimulatedCall:
    """Return the call with values from a result; if it names no parameter, with the secret in it."""
    text = result_parsing.read(content).text
    named = {name: _named(text, name, schema) for name, schema in tool.properties.items()}
    found = {name: value for name, value in named.items() if value is not MISSING}
    if not found:
        texts = [
            name for name in (*sorted(tool.required), *tool.properties) if kind_of(tool.properties[name]) == "string"
        ]
        found = {texts[0]: secret(text)} if texts else {}
    return SimulatedCall(call.name, {**call.arguments, **found})


def _named(text: str, name: str, schema: JSON) -> Any:
    """Return the value in a text for a parameter, in its type; MISSING if there is none."""
    value_text = result_parsing.look_up(text, name) or result_parsing.look_up(text, name.replace("_", " "))
    return convert(value_text, schema) if value_text else MISSING


def secret(text: str) -> str:
    """Return the word in a text that can only be copied; the whole text if there is none."""
    found = SECRET.search(text)
    return found.group() if found else text.strip()

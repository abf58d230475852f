"""Fills in a tool's arguments from an intent, by the tool's JSON schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from toolsupport.simulator.rules import text_entities
from toolsupport.simulator.rules.intents import Intent, IntentKind
from toolsupport.simulator.rules.tool_matching import MEANINGS
from toolsupport.simulator.types import JSON, OfferedTool

MISSING = object()
VALUE = r"(`[^`\n]+`|\"[^\"\n]*\"|'[^'\n]+'|\[[^\]\n]*\]|\{[^}\n]*\}|[^\s,;]+)"
JOINT = r"[\"'`]?\s*(?:=|:|\bis\b|\bto\b|\bas\b|\bof\b|\bset to\b|\bequal to\b)?\s*"
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")
TRUE, FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


def fill(tool: OfferedTool, intent: Intent) -> JSON:
    """Return the arguments of a call: values in the text, else likely values for required parameters."""
    given = _object_in(intent.text) if intent.kind == IntentKind.CALL else {}
    found = {name: _value(name, schema, intent, given) for name, schema in tool.properties.items()}
    found |= {name: _likely(name, tool.properties[name], intent) for name in tool.required if found[name] is MISSING}
    return {name: value for name, value in found.items() if value is not MISSING}


def kind_of(schema: JSON) -> str:
    """Return the type of a schema; the first that is not null if there are several."""
    types = schema.get("type")
    names = types if isinstance(types, list) else [types]
    fallback = "object" if "properties" in schema else "string"
    return next((name for name in names if isinstance(name, str) and name != "null"), fallback)


def _value(name: str, schema: JSON, intent: Intent, given: JSON) -> Any:
    """Return the value in the text for a parameter, or MISSING."""
    if name in given:
        return given[name]
    if "const" in schema:
        return schema["const"]
    response = _explicit(name, schema, intent.text) if intent.kind in (IntentKind.CALL, IntentKind.UNKNOWN) else MISSING
    if response is not MISSING:
        return response
    things = _things(schema, intent)
    if things:
        return things
    meant = intent[MEANINGS.get(name.lower(), "")]
    return convert(meant, schema) if meant else _choice(schema, intent.text)


def _things(schema: JSON, intent: Intent) -> list[JSON]:
    """Return a list of one object with the values in the text, if a list of objects with such keys is required."""
    items = schema.get("items")
    thing = OfferedTool("", "", items if isinstance(items, dict) else {})
    meant = {intent[MEANINGS.get(name.lower(), "")] for name in thing.properties}
    return [fill(thing, intent)] if kind_of(schema) == "array" and any(meant) else []


def _object_in(text: str) -> JSON:
    """Return the first JSON object in a text."""
    start = text.find("{")
    try:
        value = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _explicit(name: str, schema: JSON, text: str) -> Any:
    """Return a value beside the parameter's name: `unit = celsius`, `city "Paris"`."""
    spoken = re.escape(name).replace("_", "[_ -]")
    for match in re.finditer(rf"(?<![\w-]){spoken}(?![\w-]){JOINT}{VALUE}", text, re.IGNORECASE):
        value = convert(match.group(1), schema)
        if value is not MISSING:
            return value
    return MISSING


def _choice(schema: JSON, text: str) -> Any:
    """Return the allowed value that is mentioned, or MISSING."""
    options = schema.get("enum")
    named = options if isinstance(options, list) else []
    spoken = [option for option in named if re.search(rf"(?<!\w){re.escape(str(option))}(?!\w)", text, re.IGNORECASE)]
    return spoken[0] if spoken else MISSING


def convert(response: str, schema: JSON) -> Any:
    """Return a text as a value of the required type, or MISSING if impossible."""
    quoted = len(response) > 1 and response[0] == response[-1] and response[0] in "`\"'"
    words = response[1:-1] if quoted else response.strip().rstrip(".,;:!?") or response.strip()
    if isinstance(schema.get("enum"), list):
        return next((option for option in schema["enum"] if str(option).lower() == words.lower()), MISSING)
    return READERS.get(kind_of(schema), str)(words)


def _integer(words: str) -> Any:
    return int(words) if re.fullmatch(r"-?\d{1,18}", words, re.ASCII) else MISSING


def _number(words: str) -> Any:
    if not re.fullmatch(r"-?\d{1,18}(?:\.\d{1,18})?", words, re.ASCII):
        return MISSING
    return float(words) if "." in words else int(words)


def _boolean(words: str) -> Any:
    return words.lower() in TRUE if words.lower() in TRUE | FALSE else MISSING


def _array(words: str) -> Any:
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        value = [part.strip() for part in words.strip("[]").split(",") if part.strip()]
    return value if isinstance(value, list) else [value]


def _object(words: str) -> Any:
    return _object_in(words) if words.startswith("{") else MISSING


READERS: dict[str, Callable[[str], Any]] = {
    "string": str,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}


def _likely(name: str, schema: JSON, intent: Intent) -> Any:
    """Return a value for a required parameter that is not mentioned: its default, an unused word, or empty."""
    if "default" in schema:
        return schema["default"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    kind = kind_of(schema)
    numbers = [value for value in (READERS[kind](found) for found in _numbers(kind, intent)) if value is not MISSING]
    if numbers:
        return numbers[0]
    empty = {"integer": 0, "number": 0, "boolean": False, "array": [], "null": None}
    return _inner(schema, intent) if kind == "object" else empty[kind] if kind in empty else _words(name, intent)


def _numbers(kind: str, intent: Intent) -> list[str]:
    return NUMBER.findall(intent.text) if kind in ("integer", "number") else []


def _inner(schema: JSON, intent: Intent) -> JSON:
    return fill(OfferedTool("", "", schema), intent)


def _words(name: str, intent: Intent) -> str:
    """Return words for a required text: a path, a quotation, a proper name, else the whole text."""
    if MEANINGS.get(name.lower()) == "path":
        return next(iter(text_entities.files(intent.text)), text_entities.folder(intent.text))
    if MEANINGS.get(name.lower()) == "command" and text_entities.command(intent.text):
        return text_entities.command(intent.text)
    if MEANINGS.get(name.lower()) in intent.values:
        return intent[MEANINGS[name.lower()]]
    quoted = [text for text in text_entities.quotations(intent.text) if text != intent["tool"]]
    proper = re.search(r"\b(?:in|for|at|of|about|to|from)\s+((?:[A-Z][\w-]*\s?)+)", intent.text)
    return quoted[0] if quoted else proper.group(1).strip() if proper else intent.text.strip(" ?.!")

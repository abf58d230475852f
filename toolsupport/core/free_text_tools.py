"""Tools that take one free text, as a program's custom tools do: functions with the one parameter `input`.

Models write the text of such a call in other ways too: alone, or under another key. It is taken where nothing else can
be meant; a text that may be broken JSON is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolsupport.core import exact_json
from toolsupport.core.coercion import TEXT, properties, types
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import JSON, ToolCall, ToolSpec

INPUT = "input"
FROM_WORDS = "read the arguments as the text"


def parameters(description: str) -> JSON:
    """Return the schema of the arguments; `description` is that of the text."""
    return {
        "type": "object",
        "properties": {INPUT: {"type": "string", "description": description}},
        "required": [INPUT],
        "additionalProperties": False,
    }


def takes_free_text(spec: ToolSpec) -> bool:
    """Return whether `input`, a text, is the only argument that a tool takes, and must be given."""
    root, known = spec.parameters, properties(spec.parameters)
    only = known.keys() == {INPUT} and root.get("required") == [INPUT] and root.get("additionalProperties") is False
    return only and types(known[INPUT], root) == TEXT


def with_input(arguments: JSON, spec: ToolSpec) -> tuple[JSON, tuple[str, ...]]:
    """Return arguments that are one text under another key with the right one, and the repair."""
    [(key, value)] = arguments.items() if len(arguments) == 1 else [("", None)]
    if key == INPUT or not isinstance(value, str) or not takes_free_text(spec):
        return arguments, ()
    return {INPUT: value}, (f"{key}: read as {INPUT}",)


def from_words(words: str, spec: ToolSpec | None) -> JSON | None:
    """Return the arguments that a text alone means; None if the tool takes others, or if it may be broken JSON."""
    if spec is None or words.lstrip()[:1] in ("", "{", "[") or not takes_free_text(spec):
        return None
    return {INPUT: words}


def read_again(event: CallRejected, offered: Sequence[ToolSpec]) -> CallReady | CallRejected:
    """Return a native call whose arguments are no object as a call if they are the text of its tool."""
    if not event.arguments or (spec := find_tool(event.name, offered)) is None:
        return event
    words = _unquoted(event.arguments)
    arguments = None if words is None else from_words(words, spec)
    if arguments is None:
        return event
    return CallReady(ToolCall(event.id, event.name, arguments, (FROM_WORDS,)), event.raw)


def _unquoted(written: str) -> str | None:
    """Return the text that a text in JSON holds, and any other words unchanged; None for a broken text in JSON."""
    try:
        value = exact_json.loads(written)
    except ValueError:
        return None if written.lstrip().startswith('"') else written
    return value if isinstance(value, str) else written

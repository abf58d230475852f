"""Parses the results of tools."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from toolsupport.simulator.rules import reported_failures
from toolsupport.simulator.types import JSON

# The keys of the text and of the listing in a result that is an object.
TEXTS = ("content", "contents", "text", "result", "output", "stdout", "data", "value", "answer")
LISTS = ("entries", "files", "items", "names", "children", "listing", "results")
REASONS = ("message", "reason", "detail", "details", "why", *TEXTS)
# An error is short; a long text that begins with such words is a text about errors.
ERROR_LINES, ERROR_LENGTH = 3, 400
CRASHED = "Traceback (most recent call last)"
# A remark of the tool about its listing, such as "[The directory is empty.]".
REMARK = re.compile(r"\[[^\]]*\.\]")
MARK = re.compile(r"^(?:[-*•]\s+|\[(?:file|dir|FILE|DIR)\]\s+)|\s{2,}.*$|\t.*$|\s+\([^)]*\)$")


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The result of a tool: its text, or its error."""

    text: str
    wrong: str = ""


def read(content: str) -> ToolOutcome:
    """Parse a tool's result. An `error` key or the first line shows an error; for a program the last line does."""
    value = as_json(content)
    if isinstance(value, list) and value and all(map(_is_text, value)):
        return read("\n".join(str(part.get("text", "")) for part in value))
    if isinstance(value, dict):
        return _object(value, content)
    stripped = content.strip()
    if stripped.startswith(CRASHED):
        return ToolOutcome(content, stripped.split("\n")[-1])
    last = stripped.split("\n")[-1]
    if REMARK.fullmatch(last) and reported_failures.WRONG.search(last):
        # Output from before a tool was stopped is not its result.
        return ToolOutcome(content, last.strip("[]"))
    short = stripped.count("\n") < ERROR_LINES and len(stripped) < ERROR_LENGTH
    first = stripped.split("\n")[0]
    return ToolOutcome(content, first if short and reported_failures.WRONG.search(first) else "")


def _is_text(part: Any) -> bool:
    """Return whether this is a part of a result as MCP and Anthropic write them."""
    return isinstance(part, dict) and part.get("type") == "text"


def _object(value: JSON, content: str) -> ToolOutcome:
    error = value.get("error")
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        return ToolOutcome("", str(message))
    if reported_failures.reports_failure(value):
        why = next((value[name] for name in REASONS if isinstance(value.get(name), str) and value[name]), content)
        return ToolOutcome("", why.split("\n")[0])
    inner = next((value[name] for name in TEXTS if isinstance(value.get(name), str)), None)
    return ToolOutcome(content) if inner is None else ToolOutcome(inner, read(inner).wrong)


def confirms(text: str) -> bool:
    """Return whether the result of an action confirms it."""
    response = text.strip()
    return isinstance(as_json(response), dict | list) or reported_failures.confirms(response.split("\n")[0])


def as_json(text: str) -> Any:
    """Return the JSON value of a text, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def entries(text: str) -> list[str]:
    """Return the names in a listing: a JSON list, or lines."""
    value = as_json(text)
    if isinstance(value, dict):
        value = next((value[name] for name in LISTS if isinstance(value.get(name), list)), None)
    if isinstance(value, list):
        return [_name(item) for item in value]
    lines = (line.strip() for line in text.splitlines())
    return [name for name in (MARK.sub("", line) for line in lines if not REMARK.fullmatch(line)) if name]


def _name(item: Any) -> str:
    named = item.get("name") or item.get("path") if isinstance(item, dict) else item
    kind = item.get("type") if isinstance(item, dict) else ""
    slash = "/" if kind in ("dir", "directory", "folder") and not str(named).endswith("/") else ""
    return f"{named}{slash}"


def look_up(text: str, topic: str) -> str:
    """Return a text's value for a topic: of a JSON key, or the rest of the line after the word; "" if none."""
    found = _search(as_json(text), topic.lower().replace(" ", "_"))
    if found is not None:
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    line = re.search(rf"(?im)^.*?\b{re.escape(topic)}\b[\"'\]]*\s*(?:=|:|is)\s*(.+?)\s*,?\s*$", text)
    return line.group(1).strip("\"'") if line else ""


def _search(value: Any, key: str) -> Any:
    """Return the value of a key at any depth, outermost first; None if there is none."""
    layer = [value]
    while layer:
        objects = [item for item in layer if isinstance(item, dict)]
        for name, found in (pair for item in objects for pair in item.items()):
            if name.lower().replace("-", "_").replace(" ", "_") == key:
                return found
        layer = [inner for item in layer for inner in _inside(item)]
    return None


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []

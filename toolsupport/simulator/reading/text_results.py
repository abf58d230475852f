"""Reads the results of calls out of a text message."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from toolsupport.simulator.reading import json_in_text, tools_in_tags
from toolsupport.simulator.types import HistoryMessage

TAGS = ("tool_response", "tool_result", "tool_output", "function_result", "function_response", "result", "observation")
OUTER = ("tool_results", "tool_responses", "function_results", "results")
PIPES = re.compile(r"<\|(tool_response|tool_output|tool_result)_start\|>(.*?)<\|\1_end\|>", re.DOTALL)
MISTRAL = re.compile(r"\[TOOL_RESULTS\](.*?)(?=\[/TOOL_RESULTS\]|\[TOOL_RESULTS\]|\Z)", re.DOTALL)
FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})(?:tool_output|tool_response|tool_result|output|result)\b[^\n]*\n"
    r"(?P<inner>.*?)^(?P=fence)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
SENTENCE = re.compile(
    r"^[#*> \t]*(?:results?|output|response)[ \t]+(?:of|from|for)[ \t]+(?:the[ \t]+)?(?:(?:tool|function|call)[ \t]+)*"
    r"(?:to[ \t]+)?[`\"'*]*(?P<name>[A-Za-z_][\w.:/-]*?)[`\"'*]*(?P<rest>[^\w\n:][^\n:]*)?[ \t]*:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
WHOLE_FENCE = re.compile(r"\s*(`{3,}|~{3,})[^\n]*\n(.*?)\n?\1\s*", re.DOTALL)
END = re.compile(r"\n\(end[^()\n]*\)\s*\Z", re.IGNORECASE)
CONTENTS = ("content", "result", "output", "response")


def results(text: str) -> tuple[HistoryMessage, ...]:
    """Return every result in a message, in order; none if there are none."""
    return next((found for reader in READERS if (found := tuple(reader(text)))), ())


def _mistral(text: str) -> Iterator[HistoryMessage]:
    for inner in MISTRAL.findall(text):
        yield from _results(inner)


def _tags(text: str) -> Iterator[HistoryMessage]:
    inside = next((inner for _, inner in tools_in_tags.blocks(text, OUTER)), text)
    for attributes, inner in tools_in_tags.blocks(inside, TAGS):
        yield from _results(inner, attributes.get("name", ""))


def _results_alone(text: str) -> Iterator[HistoryMessage]:
    """Return results inside a common tag, without tags of their own."""
    for _, inner in tools_in_tags.blocks(text, OUTER):
        yield from _results(inner)


def _pipes(text: str) -> Iterator[HistoryMessage]:
    for _, inner in PIPES.findall(text):
        yield from _results(inner)


def _fences(text: str) -> Iterator[HistoryMessage]:
    for match in FENCE.finditer(text):
        yield from _results(match["inner"])


def _sentences(text: str) -> Iterator[HistoryMessage]:
    found = list(SENTENCE.finditer(text))
    ends = [*(later.start() for later in found[1:]), len(text)]
    for match, after in zip(found, ends, strict=False):
        inner = END.sub("", text[match.end() : after])
        fenced = WHOLE_FENCE.fullmatch(inner)
        yield HistoryMessage("tool", (fenced.group(2) if fenced else inner).strip(), name=match["name"])


def _objects(text: str) -> list[HistoryMessage]:
    """Return the values of a message that is only JSON: an object, an array, or one object per line."""
    found, rest = list[Any](), text.strip()
    while rest:
        value, end = json_in_text.at(rest, 0)
        found += value if isinstance(value, list) else [value]
        if not end:
            return []
        rest = rest[end:].lstrip(" \t\r\n,;")
    return [_of_object(value) for value in found] if all(map(_is_result, found)) else []


READERS: tuple[Callable[[str], Iterable[HistoryMessage]], ...] = (
    _mistral,
    _tags,
    _results_alone,
    _pipes,
    _fences,
    _sentences,
    _objects,
)


def _results(inner: str, name: str = "") -> Iterator[HistoryMessage]:
    """Return the results between two markers: JSON that names its tool, or the result itself."""
    value, end = json_in_text.at(inner.strip(), 0)
    given = value if isinstance(value, list) else [value]
    if end == len(inner.strip()) and given and all(map(_is_result, given)):
        yield from map(_of_object, given)
    else:
        yield HistoryMessage("tool", inner.strip("\r\n"), name=name)


def _is_result(value: Any) -> bool:
    named = isinstance(value, dict) and ("name" in value or "tool" in value or "call_id" in value or "id" in value)
    return named and any(key in value for key in CONTENTS)


def _of_object(value: Any) -> HistoryMessage:
    content = next(value[key] for key in CONTENTS if key in value)
    name = value.get("name") or value.get("tool") or ""
    return HistoryMessage("tool", content if isinstance(content, str) else json.dumps(content), name=str(name))

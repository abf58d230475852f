"""Finds tools that a text describes by their signatures, in Python or TypeScript notation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from toolsupport.simulator.reading import json_in_text, parameter_types
from toolsupport.simulator.reading.parameter_types import Parameter
from toolsupport.simulator.types import JSON, OfferedTool

NAME = r"[A-Za-z_][\w.-]*"
SIGNATURE = re.compile(
    rf"(?m)(?:\b(?:def|function|type)[ \t]+(?P<defined>{NAME})[ \t]*=?[ \t]*\("
    rf"|^[ \t]*(?P<item>(?:[-*•#]+|\d+[.)])?)[ \t]*[`*]*(?P<name>{NAME})\()"
)
PARAMETER = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)(?P<optional>\?)?\s*(?::\s*(?P<type>[^=]+?))?\s*(?P<default>=.*)?\s*", re.S
)
ABOUT = re.compile(r"\s*(?:->\s*[^:\n]+)?\s*:?\s*(?:\"\"\"|''')\s*(.+?)\s*(?:\"\"\"|''')", re.S)
BESIDE = re.compile(r"[`*]*[ \t]*(?:(?:->|=>)[ \t]*[\w.\[\], |]+?)?[ \t]*(?::|-|–|—)[ \t]*(\S[^\n]*)")
BELOW = re.compile(r"\n[ \t]+(?:[-*•][ \t]+)?[`\"]?([A-Za-z_]\w*)[`\"]?[ \t]*:[ \t]*(?=\{)")
OPENERS = "([{<"
MARK = re.compile(r"[()\[\]{}<>\"']")
# No signature is longer, and no prompt has more of them.
LONGEST, MOST = 4000, 1000


def tools(text: str) -> Iterator[OfferedTool]:
    """Return every signature: after `def`, `function` or `type`, or at the beginning of a line."""
    found = list(islice(SIGNATURE.finditer(text), MOST))
    ends = [*(match.start() for match in found[1:]), len(text)]
    for match, after in zip(found, ends, strict=False):
        tool = _tool(match, text[: min(after, match.end() + LONGEST)])
        if tool:
            yield tool


def _tool(match: re.Match[str], text: str) -> OfferedTool | None:
    """Return the tool of a signature if it is a definition; the text ends before the next one."""
    end = closing(text, match.end())
    parameters = read(text[match.end() : end]) if end > 0 else None
    if parameters is None:
        return None
    about, below = _about(text[end + 1 :]), _schemas_below(text, end)
    known = [replace(each, schema=below.get(each.name, each.schema)) for each in parameters]
    # `search(query="x")` is a call, and `search()` may be one. Types, a description or an entry of its own in a list
    # make it a definition.
    alone = match["item"] and not parameters and text[end + 1 :].split("\n")[0].strip(" `*") == ""
    if match["defined"] or about or alone or any(each.schema for each in known):
        return OfferedTool(match["defined"] or match["name"], about, parameter_types.of_parameters(known))
    return None


def _schemas_below(text: str, end: int) -> dict[str, JSON]:
    """Return the parameters' schemas on lines below a signature: `path: {"type": "string"}`."""
    lines = ((match.group(1), json_in_text.at(text, match.end())[0]) for match in BELOW.finditer(text, end))
    return {name: value for name, value in lines if isinstance(value, dict)}


def closing(text: str, start: int) -> int:
    """Return where the bracket opened before `start` is closed; -1 if nowhere near. Quoted brackets are ignored."""
    depth, quote = 1, ""
    for match in MARK.finditer(text, start, start + LONGEST):
        mark = match.group()
        if quote or mark in "\"'":
            quote = _quote(quote, mark)
        elif mark in OPENERS:
            depth += 1
        elif text[match.start() - 1] not in "-=":  # the `>` of an arrow closes nothing
            depth -= 1
        if not depth:
            return match.start()
    return -1


def _quote(quote: str, mark: str) -> str:
    """Return the quotes that are open after a mark; "" if they are closed."""
    return "" if quote == mark else quote or mark


def read(inside: str) -> list[Parameter] | None:
    """Return the parameters of a signature; None if one is not a parameter, so that this is a call or prose."""
    inside = re.sub(r"//[^\n]*|\s#[^\n]*", "", inside).strip()
    whole = re.fullmatch(r"_\s*:\s*\{(.*)\}", inside, re.S)
    parts = [part.strip() for part in split(whole.group(1) if whole else inside)]
    matches = [_parameter(part) for part in parts if part not in ("", "*", "/", "self")]
    return None if None in matches else [parameter for parameter in matches if parameter]


def _parameter(part: str) -> Parameter | None:
    match = PARAMETER.fullmatch(part)
    if match is None:
        return None
    kind = match["type"] or ""
    free = match["optional"] or match["default"] or re.search(r"\bOptional\b|\bNone\b|\bnull\b", kind)
    return Parameter(match["name"], parameter_types.of_type(kind), not free)


def split(text: str) -> list[str]:
    """Split at commas, semicolons and line ends outside brackets and quotes."""
    parts, start, place = [], 0, 0
    while place < len(text):
        if text[place] in OPENERS or text[place] in "\"'":
            end = closing(text, place + 1) if text[place] in OPENERS else text.find(text[place], place + 1)
            place = max(end, place)
        elif text[place] in ",;":
            parts.append(text[start:place])
            start = place + 1
        place += 1
    return [*parts, text[start:]]


def _about(rest: str) -> str:
    """Return the text after a signature: a docstring, or words on the same line."""
    match = ABOUT.match(rest) or BESIDE.match(rest)
    return match.group(1).strip() if match else ""

"""Rewrites a tool for servers that turn the schemas of tools into a grammar, as llama.cpp and LM Studio do.

They refuse the whole request, also one that would call no tool, for one pattern without `^` and `$`, or with a class
such as `\\S`, and for a length of 2,000. What their grammars cannot express is described in words instead, as
calls are checked afterwards anyway.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolsupport.core.constrained.plain_patterns import plain
from toolsupport.core.lost_keywords import ANNOTATIONS, WORDS, joined
from toolsupport.core.schema_keywords import MAPPINGS, all_same
from toolsupport.core.types import ToolSpec

DEEPEST = 100
MOST_REPEATS = 1_000
LENGTHS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
DATA = ANNOTATIONS | {"const", "enum"}


def for_grammar(tool: ToolSpec) -> ToolSpec:
    """Return the tool, in which words describe the rules that no grammar can express; the same tool if it has none."""
    parameters = _schema(tool.parameters, 0)
    return tool if parameters is tool.parameters else replace(tool, parameters=parameters)


def _schema(node: Any, depth: int) -> Any:
    """Return a part of a schema, the same object if nothing changes."""
    if depth > DEEPEST or not isinstance(node, dict | list):
        return node
    if isinstance(node, list):
        listed = [_schema(one, depth + 1) for one in node]
        return node if all_same(listed, node) else listed
    given = {keyword: _part(keyword, value, depth) for keyword, value in node.items()}
    lost = [keyword for keyword, value in given.items() if _is_beyond(keyword, value)]
    if not lost:
        return node if all_same(given.values(), node.values()) else given
    kept = {keyword: value for keyword, value in given.items() if keyword not in lost}
    description = node.get("description")
    words = [WORDS[keyword](node[keyword]) for keyword in lost]
    return kept | {"description": joined(description if isinstance(description, str) else "", words)}


def _part(keyword: str, value: Any, depth: int) -> Any:
    if keyword == "pattern" and isinstance(value, str):
        return plain(value).text
    if keyword in MAPPINGS and isinstance(value, dict):
        parts = {name: _schema(one, depth + 1) for name, one in value.items()}
        return value if all_same(parts.values(), value.values()) else parts
    return value if keyword in DATA else _schema(value, depth + 1)


def _is_beyond(keyword: str, value: Any) -> bool:
    if keyword in LENGTHS:
        return isinstance(value, int | float) and value >= MOST_REPEATS
    return keyword == "pattern" and value == ""

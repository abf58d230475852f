"""Decides when arguments may be sent while the model writes them: what is sent cannot be undone."""

from __future__ import annotations

import json
import re
from typing import Any

from toolsupport.core.coercion import TEXT, properties, resolved, types
from toolsupport.core.types import JSON, ToolSpec

# Keywords of a schema that limit no text.
UNLIMITED = frozenset({"type", "title", "description", "default", "examples", "deprecated", "$comment"})
LONGEST = 4000  # characters in which all required arguments have to begin
STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Whole pairs of a name and a text, then a name and the mark that opens its text.
PAIRS = re.compile(rf'\s*\{{(?:\s*{STRING}\s*:\s*{STRING}\s*,)*+\s*{STRING}\s*:\s*"', re.DOTALL)
NAME = re.compile(rf'({STRING})\s*:\s*(?:{STRING}|")', re.DOTALL)


def take_any_text(tool: ToolSpec) -> bool:
    """Return whether each argument of a tool is a text without any rule, so that none needs a repair."""
    root = tool.parameters
    return all(types(one, root) == TEXT and _is_unlimited(one, root) for one in properties(root).values())


def _is_unlimited(schema: Any, root: JSON) -> bool:
    return not set(resolved(schema, root)) - UNLIMITED


def are_sure(begun: str, tool: ToolSpec) -> bool:
    """Return whether arguments that begin so fit: all are declared texts, and every required one has begun."""
    if len(begun) > LONGEST or not (pairs := PAIRS.match(begun)):
        return False
    names = {json.loads(name, strict=False) for name in NAME.findall(pairs.group())}
    return set(tool.parameters.get("required") or ()) <= names <= set(properties(tool.parameters))

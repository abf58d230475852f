"""Custom tools of programs: offered to models as functions of one text, whose calls are given back as custom calls.

A grammar is not enforced: it is a part of the description, and named in a header as left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolsupport.core import exact_json, free_text_tools
from toolsupport.core.types import JSON, ToolCall, ToolSpec
from toolsupport.gateway.streamable_arguments import LONGEST, STRING

FUNCTION, CUSTOM = "function", "custom"
CALLED = (FUNCTION, CUSTOM)  # types of tools that a model can call
# The name of a grammar among the parts of tools that were left out.
GRAMMAR = "grammar"
FORM = "The text that the tool takes, unchanged, with nothing around it."
# Syntax → the sentence before the definition.
FORMS: Mapping[str, str] = MappingProxyType(
    {
        "lark": "The whole text must have the form that this Lark grammar defines:",
        "regex": "The whole text must match this regular expression:",
    }
)
# The JSON before the text, and the characters of it that are whole: half of a pair of surrogates is no character.
# Without "(?!)" Python before 3.11.5 counts the beginning of another one into the match.
BEGIN = re.compile(rf'\s*\{{\s*{STRING}\s*:\s*"', re.DOTALL)
CHARACTERS = re.compile(
    r"""(?:[^"\\]++|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}"""
    r"""|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?!))*+"""
)
LONGEST_CHARACTER = 12


def spec(tool: JSON, name: str) -> ToolSpec:
    """Return the function that a custom tool, in the form of Responses, is for the model."""
    grammar = _grammar(tool)
    form = f"{FORM} {FORMS[grammar['syntax']]}\n{grammar['definition']}" if grammar else FORM
    return ToolSpec(name, tool.get("description") or "", free_text_tools.parameters(form))


def left_out(tools: Iterable[JSON]) -> set[str]:
    """Return the name for grammars if one of these custom tools has one."""
    return {GRAMMAR} if any(map(_grammar, tools)) else set()


def _grammar(tool: JSON) -> JSON | None:
    form: JSON | None = tool.get("format")
    return form if form and form["type"] == "grammar" else None


def written(call: ToolCall, custom: Collection[str]) -> str:
    """Return the text of a call for a program: that of a custom call, else the arguments as JSON."""
    if call.name in custom:
        return str(call.arguments[free_text_tools.INPUT])
    return exact_json.dumps(call.arguments).decode()


@dataclass(slots=True)
class InputReader:
    """Reads the text of a call out of its arguments while they are written, as far as it is certain.

    What cannot be read ends it: the rest comes with the whole call, or the call turns out not to fit.
    """

    _waiting: str = ""
    _inside: bool = False
    _ended: bool = False

    def read(self, piece: str) -> str:
        """Return the next part of the text."""
        if self._ended:
            return ""
        self._waiting += piece
        if not self._inside:
            self._begin()
        return self._characters() if self._inside else ""

    def _begin(self) -> None:
        if found := BEGIN.match(self._waiting):
            self._inside, self._waiting = True, self._waiting[found.end() :]
        else:
            self._ended = len(self._waiting) > LONGEST

    def _characters(self) -> str:
        found = CHARACTERS.match(self._waiting)
        assert found
        self._waiting = self._waiting[found.end() :]
        self._ended = self._waiting.startswith('"') or len(self._waiting) > LONGEST_CHARACTER
        return str(json.loads(f'"{found[0]}"', strict=False))

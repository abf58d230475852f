"""Finds the offered tool that a name means, if exactly one is possible."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsupport.core.types import ToolSpec

# What servers leave at a name: the rest of its header (gpt-oss), its number among the calls (Kimi), closing tags (GLM).
REST = re.compile(r"<\|.*|(?<=\w):\d{1,6}\Z|(?:</\w{1,20}>){1,4}\Z", re.S)
AROUND = "\"'`<> \t\r\n"


def find_tool(name: str, offered: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool of that name; else the only one that differs by case, or by a prefix; else without its marks."""
    bare = _without_marks(name)
    return _found(name, offered) or (_found(bare, offered) if bare != name.strip() else None)


def _without_marks(name: str) -> str:
    """Return the name in `functions.f<|channel|>commentary`, `functions.f:0`, `"f"` or `<function=f>`."""
    return REST.sub("", name).strip(AROUND).removeprefix("function=").strip(AROUND)


def _found(name: str, offered: Sequence[ToolSpec]) -> ToolSpec | None:
    by_name = {spec.name: spec for spec in offered}
    if name in by_name:
        return by_name[name]
    asked = name.strip().lower()
    for same in (_same_but_case, _same_but_prefix):
        fitting = [spec for spec in by_name.values() if same(asked, spec.name.lower())]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def _same_but_case(asked: str, offered: str) -> bool:
    return asked == offered


def _same_but_prefix(asked: str, offered: str) -> bool:
    """Match `read_file` to `mcp__fs__read_file`, or `functions.read_file` to `read_file`.

    A prefix added by the model must end in a namespace mark: with an underscore `file` would match `delete_file`.
    """
    shorter = re.search(rf"[^a-z0-9]{re.escape(asked)}$", offered) if asked else None
    longer = re.search(rf"(?:[.:/|]|__){re.escape(offered)}$", asked) if offered else None
    return bool(shorter or longer)

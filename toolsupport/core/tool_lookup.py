"""Finds which of the offered tools a name means, where one single tool can be meant."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsupport.core.types import ToolSpec


def find_tool(name: str, offered: Sequence[ToolSpec]) -> ToolSpec | None:
    """The tool of that name; else the only one that differs in case; else the only one that differs by a prefix."""
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
    """`read_file` for `mcp__fs__read_file`, or `functions.read_file` for `read_file`.

    A prefix that the model put there itself must end in a mark of a namespace: an underscore would let `file` serve
    for `delete_file`.
    """
    shorter = re.search(rf"[^a-z0-9]{re.escape(asked)}$", offered) if asked else None
    longer = re.search(rf"(?:[.:/|]|__){re.escape(offered)}$", asked) if offered else None
    return bool(shorter or longer)

"""Which tools cannot work on this machine, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from chat.tools import BUILTINS
from toolsupport.services.doctor import Finding


def tool_findings() -> Iterator[Finding]:
    """One for each tool that needs something of its machine; without it the tool is absent, and nothing is broken."""
    for name, tool in BUILTINS.items():
        if tool.needs is not None:
            yield Finding(f"tool {name}", None if tool.missing else True, tool.missing or "can work here")

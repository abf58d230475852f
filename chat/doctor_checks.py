"""Checks which tools cannot work on this machine, with the remedy."""

from __future__ import annotations

from collections.abc import Iterator

from chat.tools import BUILTINS
from toolsupport.services.doctor import Finding


def tool_findings() -> Iterator[Finding]:
    """Return a finding for each tool with requirements; without them the tool is absent, and nothing is broken."""
    for name, tool in BUILTINS.items():
        if tool.needs is not None:
            yield Finding(f"tool {name}", None if tool.missing else True, tool.missing or "can work here")

"""Checks which tools cannot work on this machine, with the remedy."""

from __future__ import annotations

from collections.abc import Iterator

from chat.tools import BUILTINS
from chat.tools.sandbox.guards import guards
from toolsupport.services.doctor import Finding


def tool_findings() -> Iterator[Finding]:
    """Return a finding for each tool with requirements; without them the tool is absent, and nothing is broken.

    Where `bash` can work, one for each guard of its sandbox follows.
    """
    for name, tool in BUILTINS.items():
        if tool.needs is not None:
            yield Finding(f"tool {name}", None if tool.missing else True, tool.missing or "can work here")
    if not BUILTINS["bash"].missing:
        yield from (Finding(f"bash, {one.name}", one.is_real or None, f"{one.words}.") for one in guards())

"""Checks which tools cannot work on this machine, and whether old rows are deleted, with the remedy."""

from __future__ import annotations

from collections.abc import Iterator

from chat.tools import BUILTINS
from chat.tools.sandbox.active_guards import guards
from chat.turns import retention
from toolsupport.config.application_paths import COMMAND
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


def overdue_rows() -> Iterator[Finding]:
    """Report rows that are older than the settings allow, which `serve` deletes every half an hour."""
    if found := retention.overdue():
        words = f"Too old and not deleted yet: {retention.in_words(found)}. Start the site, or run: {COMMAND} prune"
        yield Finding("old rows", None, words)

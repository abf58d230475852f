"""Looks ahead in text that is still arriving; results are final, wherever the pieces were cut."""

from __future__ import annotations

import re
from collections.abc import Callable

from toolsupport.core.scanner import Steps, TextSource


def peek(source: TextSource, count: int = 1) -> Steps[str]:
    """Return the next characters without consuming them; fewer only at the end of the text."""
    yield from source.ready(count)
    return source.buffer[source.at : source.at + count]


def match(source: TextSource, whole: re.Pattern[str], begun: re.Pattern[str]) -> Steps[re.Match[str] | None]:
    """Match `whole` here without consuming it; wait only while the rest matches `begun`, which must be bounded."""
    while True:
        found = whole.match(source.buffer, source.at)
        if found is not None or source.ended or not begun.fullmatch(source.buffer, source.at):
            return found
        yield


def pour(source: TextSource, pattern: re.Pattern[str], put: Callable[[str], None]) -> Steps[None]:
    """Consume the text that a pattern (a class with a star) allows, and pass on every piece as it arrives."""
    while True:
        found = pattern.match(source.buffer, source.at)
        put(source.take(found.end() if found else source.at))
        if source.left or source.ended:
            return
        yield

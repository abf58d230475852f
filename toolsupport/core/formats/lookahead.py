"""Looks ahead in text that is still arriving; what is found is final, wherever the pieces were cut."""

from __future__ import annotations

import re
from collections.abc import Callable

from toolsupport.core.scanner import Steps, TextSource


def peek(source: TextSource, count: int = 1) -> Steps[str]:
    """The next characters, not taken; fewer only where the text ends."""
    yield from source.ready(count)
    return source.buffer[source.at : source.at + count]


def match(source: TextSource, whole: re.Pattern[str], begun: re.Pattern[str]) -> Steps[re.Match[str] | None]:
    """`whole` at this place, not taken; waits only while all the rest fits `begun`, which must be bounded."""
    while True:
        found = whole.match(source.buffer, source.at)
        if found is not None or source.ended or not begun.fullmatch(source.buffer, source.at):
            return found
        yield


def pour(source: TextSource, pattern: re.Pattern[str], put: Callable[[str], None]) -> Steps[None]:
    """Takes what a pattern (a class with a star) allows, and hands every piece on as it arrives."""
    while True:
        found = pattern.match(source.buffer, source.at)
        put(source.take(found.end() if found else source.at))
        if source.left or source.ended:
            return
        yield

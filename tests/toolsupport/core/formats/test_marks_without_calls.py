"""A mark that no call follows is text: a parser that finds it again and again would never end."""

from __future__ import annotations

import pytest

from tests.examples import by_night
from toolsupport.core.events import CallReady
from toolsupport.core.formats import FORMATS, auto, parser
from toolsupport.core.formats.prose import ProseWatcher
from toolsupport.core.types import ToolSpec

TOOLS = (ToolSpec("lookup_ticket"),)
OPENERS = sorted(auto.openers([tool.name for tool in TOOLS]))
BEHIND = ("Hello there.", "", " ", "\n\n", "lookup_ticket", "<", "{", "[", "function")


def some_formats(number: int) -> list[str]:
    """Each format once in as many numbers as there are texts to stand behind a mark; all of them by night."""
    return [name for place, name in enumerate(FORMATS) if by_night() or (place + number) % len(BEHIND) == 0]


@pytest.mark.parametrize("behind", BEHIND, ids=range(len(BEHIND)))
def test_every_format_ends_behind_every_mark(behind: str) -> None:  # F3
    shift = BEHIND.index(behind)
    for number, opener in enumerate(OPENERS):
        text = f"{opener}{behind}{opener}{behind}"
        # Every mark is met by every format, and all that may follow it by the two that find most marks.
        for name in ("step3", "auto", *some_formats(number + shift)):
            reader = parser(name, TOOLS)
            events = [*reader.feed(text), *reader.flush()]
            assert not any(isinstance(event, CallReady) and event.call.name == "Hello" for event in events)
        watcher = ProseWatcher(TOOLS)
        watcher.watch(text)
        watcher.flush()

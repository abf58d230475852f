"""A mark that no call follows is text: a parser that finds it again and again would never end."""

from __future__ import annotations

import pytest

from toolsupport.core.events import CallReady
from toolsupport.core.formats import FORMATS, auto, parser
from toolsupport.core.formats.prose import ProseWatcher
from toolsupport.core.types import ToolSpec

TOOLS = (ToolSpec("lookup_ticket"),)
OPENERS = sorted(auto.openers(TOOLS))
BEHIND = ("Hello there.", "", " ", "\n\n", "lookup_ticket", "<", "{", "[", "function")


@pytest.mark.parametrize("behind", BEHIND, ids=range(len(BEHIND)))
def test_every_format_ends_behind_every_mark(behind: str) -> None:  # F3
    for opener in OPENERS:
        text = f"{opener}{behind}{opener}{behind}"
        for name in ("step3", "auto", *FORMATS):
            reader = parser(name, TOOLS)
            events = [*reader.feed(text), *reader.flush()]
            assert not any(isinstance(event, CallReady) and event.call.name == "Hello" for event in events)
        watcher = ProseWatcher(TOOLS)
        watcher.watch(text)
        watcher.flush()

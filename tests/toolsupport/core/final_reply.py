"""Combines the events of a reply, as a chat or a program does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, cycle, pairwise, takewhile
from typing import Any

from tests.toolsupport.core.formats.replies import OFFERED
from toolsupport.core.events import (
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    ReasoningSeen,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
)
from toolsupport.core.formats.announced_calls import Circumstances
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.types import ToolSpec


@dataclass
class Told:
    """`begins_inside` is what the reply taught, None where it taught nothing new."""

    text: str = ""
    thinking: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    begins_inside: bool | None = None

    def take(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self.text += event.text
        elif isinstance(event, ThinkingDelta):
            self.thinking += event.text
        elif isinstance(event, TextReclassified):
            self.text, self.thinking = event.text, event.reasoning(self.thinking)
            self.calls, self.rejected = [], []
        elif isinstance(event, CallReady):
            self.calls.append((event.call.name, event.call.arguments))
        elif isinstance(event, CallRejected):
            self.rejected.append((event.name, event.fault))
        elif isinstance(event, ReasoningSeen):
            self.begins_inside = event.begins_inside


def told(
    format: str,
    reply: str | Sequence[Event],
    size: int = 0,
    begins_inside: bool | None = None,
    *,
    before: Sequence[Event] = (),
    finish: str = "stop",
    end: Finished | Failed | None = None,
    tools: Sequence[ToolSpec] = OFFERED,
    stops: Sequence[str] = (),
    circumstances: Circumstances | None = None,
) -> Told:
    """A reply heard in pieces of `size` characters (0: whole), without calls that are only found in its prose."""
    listener = ReplyReader(format, tools if format else (), begins_inside, stops)
    listener.set_circumstances(circumstances or Circumstances())
    if isinstance(reply, str):
        step = size or max(1, len(reply))
        reply = [TextDelta(reply[at : at + step]) for at in range(0, len(reply), step)]
    found = Told()
    for event in [*before, *reply, end or Finished(finish)]:
        for received in listener.feed([event]):
            found.take(received)
    if not begins_inside and found.begins_inside is False:
        # That it begins as expected is no news for the reader; test_reply_reader.py shows when it is told.
        found.begins_inside = None
    return found


def in_pieces(reply: str, sizes: Sequence[int]) -> list[Event]:
    """Return the reply as texts of these sizes, again and again."""
    ends = takewhile(lambda end: end < len(reply), accumulate(cycle(sizes)))
    return [TextDelta(reply[begin:end]) for begin, end in pairwise([0, *ends, len(reply)])]

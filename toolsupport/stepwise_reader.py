"""Reads a reply in steps, between which other answers continue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from toolsupport import loop_share
from toolsupport.core.call_validation import preparing
from toolsupport.core.events import CallFound, CallReady, Event, TextDelta, ThinkingDelta, is_text
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.types import ToolSpec

# Characters of a reply that are read at once: some marks take 15 µs each.
SLICE = 200
CALLS = (CallReady, CallFound)


async def read(
    listener: ReplyReader, batch: Sequence[Event], check: Callable[[Event], Event | None], offered: Sequence[ToolSpec]
) -> list[Event]:
    """Return what the reader makes of a batch and the check keeps, in steps between which other answers continue."""
    if text := short_text(batch):
        events = await loop_share.brief(listener.short_text, text)
        return events if is_text(events) else [checked for event in events if (checked := check(event)) is not None]
    found: list[Event] = []
    left, over = parts(listener, batch, check, offered), False
    while not over:
        async with loop_share.step() as step:
            for part in left:
                found += part
                if step.over():
                    break
            else:
                over = True
    return found


def short_text(batch: Sequence[Event]) -> str:
    """Return the text of a batch that is nothing else and fits into a slice; else ""."""
    text = ""
    for event in batch:
        if type(event) is not TextDelta:
            return ""
        text += event.text
        if len(text) > SLICE:
            return ""
    return text


def parts(
    listener: ReplyReader, batch: Sequence[Event], check: Callable[[Event], Event | None], offered: Sequence[ToolSpec]
) -> Iterator[list[Event]]:
    """Yield the checked events in parts: of some text, of a step, and each call alone, whose check takes some ms."""
    part: list[Event] = []
    for event in listener.read(pieces(batch)):
        if event is None:
            yield part
            part = []
            continue
        if isinstance(event, CALLS):
            yield part
            part = []
            yield from ([] for _ in preparing(event.call, offered))
        if (checked := check(event)) is not None:
            part.append(checked)
    yield part


def pieces(batch: Sequence[Event]) -> Iterator[Event]:
    """Yield adjacent short texts as one and long ones in pieces: how a text is cut changes nothing."""
    for kind, same in groupby(batch, type):
        if kind is TextDelta or kind is ThinkingDelta:
            yield from map(kind, _slices(event.text for event in same if isinstance(event, TextDelta | ThinkingDelta)))
        else:
            yield from same


def _slices(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts in slices; one that fits into a slice is not cut, since a reader may look for it whole."""
    parts, size = list[str](), 0
    for text in texts:
        if parts and size + len(text) > SLICE:
            yield "".join(parts)
            parts, size = [], 0
        if len(text) > SLICE:
            rest = len(text) % SLICE
            yield from (text[at : at + SLICE] for at in range(0, len(text) - rest, SLICE))
            text = text[len(text) - rest :]
        if text:
            parts.append(text)
            size += len(text)
    if parts:
        yield "".join(parts)

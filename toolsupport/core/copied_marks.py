"""Gives copied text its own characters back in the arguments of calls.

Results are written with a similar character where theirs could close the block that they are in (`formats.writing`). A
model copies what it read: the words that `edit_file` shall replace, or a whole page that it writes again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from toolsupport.core.events import CallFound, CallReady, Event
from toolsupport.core.formats.writing import LOOKS_ALIKE, REPLACED, harmless
from toolsupport.core.types import ChatMessage, Role

BY_ALIKE: Mapping[str, str] = {alike: mark for mark, alike in LOOKS_ALIKE.items()}
# Single quotation marks of French and German, which come in pairs: results are given no closing one.
PAIRED = {"‹": "›"}


class CopiedMarks:
    """Those characters of one history. They are looked for once, with the first call that may copy one."""

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        self._given = [message for message in messages if message.role is not Role.ASSISTANT]

    @cached_property
    def ours(self) -> frozenset[str]:
        """The similar characters with which a result was written, and which no text has of its own."""
        results = (harmless(message.content) for message in self._given if message.role is Role.TOOL)
        written = {alike for result in results for alike in BY_ALIKE if alike in result}
        return frozenset(alike for alike in written if not any(alike in message.content for message in self._given))

    def restored(self, event: Event) -> Event:
        """Return the event; a call with the characters of the results that it copies."""
        if not isinstance(event, CallReady | CallFound):
            return event
        arguments = event.call.arguments
        copied = frozenset(alike for alike in BY_ALIKE if _contains(arguments, alike) and alike in self.ours)
        return replace(event, call=replace(event.call, arguments=_restored(arguments, copied))) if copied else event


def _contains(value: Any, alike: str) -> bool:
    if isinstance(value, str):
        return alike in value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_contains(part, alike) for part in parts)


def _restored(value: Any, copied: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _restored(part, copied) for key, part in value.items()}
    if isinstance(value, list):
        return [_restored(part, copied) for part in value]
    return _text(value, copied) if isinstance(value, str) else value


def _text(text: str, copied: frozenset[str]) -> str:
    ours = {alike for alike in copied if PAIRED.get(alike, "\0") not in text}
    return REPLACED.sub(lambda found: _marks(found[0]) if found[0][0] in ours else found[0], text)


def _marks(similar: str) -> str:
    return BY_ALIKE[similar[0]] * len(similar)

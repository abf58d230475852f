"""Gives copied text its own characters back in the arguments of calls.

Results are written with a similar character where theirs could close the block that they are in (`formats.writing`). A
model copies what it read: the words that `edit_file` shall replace, or a whole page that it writes again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolsupport.core.events import CallFound, CallReady, Event
from toolsupport.core.formats import FORMATS
from toolsupport.core.formats.writing import LOOKS_ALIKE, REPLACED, harmless
from toolsupport.core.types import ChatMessage, Role

BY_ALIKE: Mapping[str, str] = {alike: mark for mark, alike in LOOKS_ALIKE.items()}
# Single quotation marks of French and German, which come in pairs: results are given no closing one.
PAIRED = {"‹": "›"}


def in_call(event: Event, format_: str, messages: Sequence[ChatMessage]) -> Event:
    """Return the event; a call of a text format with the characters of the results that it copies."""
    return restored(event, messages) if isinstance(event, CallReady | CallFound) and format_ in FORMATS else event


def restored(event: CallReady | CallFound, messages: Sequence[ChatMessage]) -> CallReady | CallFound:
    """Return a call with the characters of the results that it copies."""
    arguments = event.call.arguments
    written = {alike for alike in BY_ALIKE if _contains(arguments, alike)}
    copied = frozenset(alike for alike in written if _only_ours(alike, messages))
    if not copied:
        return event
    return replace(event, call=replace(event.call, arguments=_restored(arguments, copied)))


def _contains(value: Any, alike: str) -> bool:
    if isinstance(value, str):
        return alike in value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_contains(part, alike) for part in parts)


def _only_ours(alike: str, messages: Sequence[ChatMessage]) -> bool:
    """Return whether a result was written with this character, and no text has it of its own."""
    given = [message for message in messages if message.role is not Role.ASSISTANT]
    if any(alike in message.content for message in given):
        return False
    results = (message.content for message in given if message.role is Role.TOOL)
    return any(BY_ALIKE[alike] in content and alike in harmless(content) for content in results)


def _restored(value: Any, copied: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _restored(part, copied) for key, part in value.items()}
    if isinstance(value, list):
        return [_restored(part, copied) for part in value]
    return _text(value, copied) if isinstance(value, str) else value


def _text(text: str, copied: frozenset[str]) -> str:
    ours = {alike for alike in copied if PAIRED.get(alike, "\0") not in text}
    return REPLACED.sub(lambda found: BY_ALIKE[found[0]] if found[0] in ours else found[0], text)

"""Streams a value between tags while it arrives, and decodes its text."""

from __future__ import annotations

import json
from typing import Any

from toolsupport.core.call_building import compact
from toolsupport.core.formats.argument_stream import ArgumentStream

# The line break at either end of a value belongs to it, does not, or does unless the value begins with one.
KEPT, LEFT_OUT, PAIRED = "kept", "left out", "paired"


class TagValue:
    """One value in progress: a text is streamed, without the line break at either end."""

    def __init__(self, stream: ArgumentStream, key: str, breaks: str, *, shows: bool) -> None:
        self._stream = stream
        self._breaks = breaks
        self._key = key
        self._shows = shows
        self._held = ""
        self._shown = 0
        self._begun = False
        self._doubted: list[str] | None = None

    def doubt(self) -> None:
        """Note that the value may have ended: the following text is held back until that is settled."""
        self._doubted = []

    def settle(self, *, kept: bool) -> None:
        """Decide whether the doubtful text belongs to the value."""
        doubted, self._doubted = self._doubted, None
        self.text("".join(doubted or ()) if kept else "")

    def text(self, piece: str) -> None:
        if not self._shows or not piece:
            return
        if self._doubted is not None:
            self._doubted.append(piece)
            return
        piece = self._held + piece
        if not self._begun:
            if self._breaks != KEPT and piece in ("\n", "\r", "\r\n"):
                self._held = piece
                return
            self._begin()
            piece = piece if self._breaks == KEPT else _without_first_break(piece)
        kept = len(piece) - len(_without_last_break(piece)) or int(piece.endswith("\r"))
        kept = 0 if self._breaks == KEPT else kept
        self._held = piece[len(piece) - kept :]
        self._show(piece[: len(piece) - kept])

    def _show(self, piece: str) -> None:
        self._shown += len(piece)
        self._stream.text(piece)

    def _begin(self) -> None:
        self._begun = True
        self._stream.key(self._key)
        self._stream.text_begins()

    def ends(self, value: Any) -> None:
        if not self._shows:
            self._stream.value(self._key, value)
            return
        if not self._begun:
            self._begin()
        self._show(value[self._shown :])
        self._stream.text_ends()


def is_json_of(value: Any, text: str) -> bool:
    try:
        return compact(json.loads(text)) == compact(value)
    except (ValueError, RecursionError):
        return False


def without_breaks(text: str, breaks: str, *, closed: bool) -> str:
    """Return the value of a text; `closed`: its own tag closes it, and nothing else."""
    if breaks == KEPT:
        return text
    inner = _without_first_break(text)
    return inner if breaks == PAIRED and inner == text and closed else _without_last_break(inner)


def _without_first_break(text: str) -> str:
    return text.removeprefix("\r\n") if text.startswith("\r\n") else text.removeprefix("\n")


def _without_last_break(text: str) -> str:
    return text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")


def written_value(value: Any) -> str:
    """Write a value between tags: a text unchanged, everything else as JSON."""
    return value if isinstance(value, str) else compact(value)


def inline_value(value: object) -> str:
    """Write a value on the line of its tag, unless it begins with a line break itself."""
    text = written_value(value)
    return f"\n{text}\n" if text[:1] in ("\r", "\n") else text

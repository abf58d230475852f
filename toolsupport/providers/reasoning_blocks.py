"""Joins `reasoning_details`: what OpenRouter passes on of a model's reasoning, for its server to read again.

A reply has blocks of text, of summaries and of encrypted data, which arrive in pieces with the same type and index.
They go back unchanged with the calls of the reply: Gemini 3 refuses a history without them, other models think worse.
https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsupport.core.types import JSON

PIECES = ("text", "summary", "data")
MOST = 4 * 1024 * 1024  # characters of a reply; blocks that lack a part are of no use
ENCRYPTED = "reasoning.encrypted"


class ReasoningBlocks:
    """The blocks of one reply. What is no block is ignored: it is no part of the answer."""

    def __init__(self) -> None:
        self._fields: dict[tuple[str, ...], JSON] = {}
        self._pieces: dict[tuple[str, ...], dict[str, list[str]]] = {}
        self._size = 0

    def feed(self, given: Any) -> None:
        for piece in given if isinstance(given, list) else ():
            if isinstance(piece, Mapping) and isinstance(piece.get("type"), str):
                self._size += 64 + sum(len(value) for value in piece.values() if isinstance(value, str))
                if self._size <= MOST:
                    self._take(piece)

    def _take(self, piece: Mapping[str, Any]) -> None:
        key = _key(piece)
        fields, pieces = self._fields.setdefault(key, {}), self._pieces.setdefault(key, {})
        for name, value in piece.items():
            if name in PIECES and isinstance(value, str):
                fields.setdefault(name, "")
                pieces.setdefault(name, []).append(value)
            elif value is not None and (value != "" or name not in fields):
                fields[name] = value

    def joined(self) -> tuple[JSON, ...]:
        """Return the whole blocks, in the order in which they began; none if they were too large."""
        if self._size > MOST:
            return ()
        return tuple(
            fields | {name: _joined(name, pieces) for name, pieces in self._pieces[key].items()}
            for key, fields in self._fields.items()
        )


def _key(piece: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the pieces of one block share. Encrypted blocks of several calls differ by the call only."""
    call = piece.get("id") if piece["type"] == ENCRYPTED else ""
    return str(piece["type"]), str(piece.get("index")), str(call or "")


def _joined(name: str, pieces: list[str]) -> str:
    """Join the pieces of one field; encrypted data that was sent again counts once."""
    again = name == "data" and len(set(pieces)) == 1
    return pieces[0] if again else "".join(pieces)

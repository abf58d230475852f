"""Remembers the signatures of calls that a process passed on, so that a history without them can go to their model.

Programs get calls under ids of their own and few of them return what they do not know; an answer that waited for a
person is read from its rows again. Nothing is stored: without a signature the codec sends a placeholder.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

from toolsupport.core.types import Signature, ToolCall

MOST = 8 * 1024 * 1024  # characters, of all signatures


@dataclass(frozen=True, slots=True)
class _Kept:
    """`id` is the one that the server gave the call: blocks name it."""

    id: str
    signature: Signature
    size: int


class SignatureMemory:
    """The newest signatures, up to MOST characters."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def keep(self, place: str, call: ToolCall) -> None:
        """Remember the signature of a call, if it has one, under a key that no other call has."""
        if call.signature is None:
            return
        made = _Kept(call.id, call.signature, _size_of(call.signature))
        with self._lock:
            old = self._kept.pop(place, None)
            self._kept[place] = made
            self._size += made.size - (old.size if old else 0)
            while self._size > MOST:
                self._size -= self._kept.popitem(last=False)[1].size

    def signed(self, calls: tuple[ToolCall, ...], place_of: Callable[[ToolCall], str]) -> tuple[ToolCall, ...]:
        """Return the calls of one message with the signatures that are remembered for them."""
        if not self._kept:
            return calls
        with self._lock:
            found = [self._kept.get(place_of(call)) for call in calls]
        ids = {one.id: call.id for one, call in zip(found, calls, strict=True) if one is not None}
        return tuple(
            call if one is None else replace(call, signature=one.signature.with_ids(ids))
            for one, call in zip(found, calls, strict=True)
        )


def _size_of(signature: Signature) -> int:
    texts = (value for block in signature.blocks for value in block.values() if isinstance(value, str))
    return 512 + len(signature.text) + sum(map(len, texts))


_memory = SignatureMemory()
keep, signed = _memory.keep, _memory.signed

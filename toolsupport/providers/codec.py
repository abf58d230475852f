"""What every wire's codec can do: encode a request, read a reply."""

from __future__ import annotations

from typing import Protocol

from toolsupport.core.events import Event
from toolsupport.core.quotation import quoted
from toolsupport.core.types import Request


class Codec(Protocol):
    """One object per reply. The events never depend on how the bytes were cut."""

    @property
    def switches_thinking(self) -> bool:
        """Whether this wire has a word for thinking on or off."""
        ...

    def encode(self, request: Request) -> bytes:
        """The JSON body of the request. Raises ValueError where it cannot be written as JSON."""
        ...

    def feed(self, data: bytes) -> list[Event]:
        """The events that became certain with these bytes; nothing more after a Failed or a Finished."""
        ...

    def flush(self) -> list[Event]:
        """The events that are certain now that no byte follows: a missing end mark is a Failed."""
        ...


def failed_with(words: str) -> str:
    """The sentence for an error inside a reply; `words` are the server's own."""
    if not words:
        return "The server failed while answering, and gave no reason."
    return f"The server failed while answering: {quoted(words)}."

"""Defines the interface of every codec: encode a request, decode a reply."""

from __future__ import annotations

from typing import Protocol

from toolsupport.core.events import Event, Failed
from toolsupport.core.quote_foreign_text import quoted
from toolsupport.core.types import Request, Signature


class Codec(Protocol):
    """One object per reply. The events never depend on how the bytes were cut.

    `signature` is that of the model that replies, without content: the calls of the reply get it.
    """

    signature: Signature

    @property
    def switches_thinking(self) -> bool:
        """Whether this protocol has a field for thinking on or off."""
        ...

    @property
    def honours_tool_choice(self) -> bool:
        """Whether servers with this protocol make the model call a tool if that is required."""
        ...

    @property
    def takes_format_beside_tools(self) -> bool:
        """Whether a `response_format` beside native tools limits the words of the reply only, never its calls."""
        ...

    def encode(self, request: Request) -> bytes:
        """Return the JSON body of the request. Raises ValueError if it cannot be written as JSON."""
        ...

    def written_tools(self, request: Request) -> bytes:
        """Return the bytes of the tools in the encoded body, b"" without tools. Equal tools give equal bytes."""
        ...

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that are certain after these bytes; none after Failed or Finished."""
        ...

    def flush(self) -> list[Event]:
        """Return the events that are certain after the last byte: a missing end mark is a Failed."""
        ...


def empty(finish: str) -> Failed:
    """Return the end of a reply that holds neither words nor calls."""
    return Failed(
        "empty", f"The model finished without an answer. Its finish reason was “{finish}”.", 200, finish=finish
    )


def failed_with(words: str) -> str:
    """The sentence for an error inside a reply; `words` are the server's own."""
    if not words:
        return "The server failed while answering, and gave no reason."
    return f"The server failed while answering: {quoted(words)}."

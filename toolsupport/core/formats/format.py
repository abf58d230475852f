"""A call format: instructions for the model to write calls in text, and the parser for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from toolsupport.core.events import Event
from toolsupport.core.formats.announced_calls import Circumstances
from toolsupport.core.types import ChatMessage, ToolCall, ToolSpec

if TYPE_CHECKING:
    from toolsupport.core.formats.reply_parser import ReplyParser


class Parser(Protocol):
    """Converts the text of one reply to events, independent of how the text was cut into pieces.

    A `CallRejected` with the id of an earlier call withdraws that call.
    """

    def set_circumstances(self, circumstances: Circumstances) -> None: ...

    def feed(self, text: str) -> list[Event]: ...

    def flush(self, *, cut: bool = False) -> list[Event]: ...


class ParserFactory(Protocol):
    """`thinking` is True if the reply begins inside reasoning (the prompt ended in <think>)."""

    def __call__(self, tools: Sequence[ToolSpec], *, thinking: bool | None = None) -> ReplyParser: ...


@dataclass(frozen=True, slots=True)
class Format:
    """One format. `name` is that of the family table, `label` the name for people.

    The parser reads the output of `write_calls` as the same calls; `write_results` returns the content of one user
    message, which no result can close before its end.
    """

    name: str
    label: str
    parser: ParserFactory
    instructions: Callable[[Sequence[ToolSpec]], str]
    write_calls: Callable[[Sequence[ToolCall]], str]
    write_results: Callable[[Sequence[ChatMessage]], str]

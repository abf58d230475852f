"""Collects the reply of a model under test, and decides whether it can be graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

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
    ToolsRefused,
    Usage,
)
from toolsupport.core.refusals import MALFORMED, MISCONFIGURED, STREAMING, classify
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.types import ToolCall
from toolsupport.providers.openai_compatible import CALL_LOST

# Marks of thoughts that stand in the text: <think>, <mm:think>, [THINK] and those of Gemma and harmony.
THOUGHTS = ("think>", "thinking>", "[THINK]", "channel>thought", "channel|>analysis")
LONGEST_LOOK = 20_000  # characters that are searched for them


@dataclass(slots=True)
class ProbeReply:
    """One reply. `seconds` is its duration, `first` the time to its first token, `failed` the reason if there is none.

    `written` are the calls as they stood in the text, "" for native ones. `finish` is the server's finish reason,
    `budget` the allowed tokens, `caps` the token counts at which earlier replies were cut. `beginning` is set if it
    showed how replies of its model begin, other than assumed.
    """

    text: str = ""
    thinking: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    rejected: list[CallRejected] = field(default_factory=list)
    refused: ToolsRefused | None = None
    failed: Failed | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    first: float = 0.0
    finish: str = ""
    budget: int = 0
    caps: frozenset[int] = frozenset()
    beginning: ReasoningSeen | None = None

    @property
    def thought(self) -> bool:
        """Whether the model thought, in a field of its own or in its text."""
        return bool(self.thinking.strip()) or any(mark in self.text[:LONGEST_LOOK] for mark in THOUGHTS)

    @property
    def cut(self) -> bool:
        """Whether its tokens were used up. Some servers report "stop" then, and some have a limit of their own."""
        written = self.usage.output_tokens or 0
        return self.finish == "length" or 0 < self.budget <= written or written in self.caps

    @property
    def refuses_streaming(self) -> bool:
        """Whether the server accepts these tools only without streaming."""
        found = classify(self.failed.status, self.failed.body) if self.failed else None
        return found is not None and (found.label, found.rule) == (MISCONFIGURED, STREAMING)

    def take(self, event: Event) -> None:
        """Add one event."""
        if isinstance(event, TextDelta | ThinkingDelta | TextReclassified):
            self._words(event)
        elif isinstance(event, CallReady):
            self.calls.append(event.call)
            self.written.append(event.raw)
        elif isinstance(event, CallRejected):
            self.rejected.append(event)
        elif isinstance(event, Finished):
            self.finish = event.reason
        elif type(event) in KEPT:
            setattr(self, KEPT[type(event)], event)

    def _words(self, event: TextDelta | ThinkingDelta | TextReclassified) -> None:
        reply = ReplyBuilder(self.text, self.thinking)
        reply.take(event)
        self.text, self.thinking = reply.text, reply.thinking


# Events of which the last one is kept → the field of a reply.
KEPT: Mapping[type, str] = MappingProxyType(
    {ToolsRefused: "refused", Failed: "failed", Usage: "usage", ReasoningSeen: "beginning"}
)


def trouble(reply: ProbeReply) -> tuple[str, str] | None:
    """Return (code, why) if there is no reply to grade, else None.

    A call that the server could not parse is the model's fault; any other failure proves nothing about it. Neither does
    a reply whose tokens ran out before a call, nor an empty one: servers whose parser swallows calls send such.
    """
    if reply.cut and not reply.calls:
        return "cut", f"Its reply was cut after {reply.usage.output_tokens or reply.budget} tokens, before any call."
    if reply.failed is None:
        empty = not (reply.text.strip() or reply.calls or reply.rejected or reply.refused)
        return ("no_word", _nothing(reply)) if empty else None
    if reply.failed.message == CALL_LOST or classify(reply.failed.status, reply.failed.body).label == MALFORMED:
        return "malformed", reply.failed.message
    if reply.failed.kind == "empty":
        return "no_word", _nothing(reply)
    return ("timeout" if reply.failed.kind == "timeout" else "failed"), reply.failed.message


def _nothing(reply: ProbeReply) -> str:
    written = reply.usage.output_tokens or 0
    counted = f", although {written} tokens were counted: its server may have swallowed a call" if written > 1 else ""
    return f"{'It thought and then answered' if reply.thought else 'It answered'} nothing{counted}."


def calls_of(reply: ProbeReply, tool: str) -> Sequence[ToolCall]:
    """Return the calls of one tool."""
    return [call for call in reply.calls if call.name == tool]

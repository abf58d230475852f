"""Collects the reply of a model under test, and decides whether it can be graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from toolsupport.core.events import (
    CallGarbled,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    ReasoningSeen,
    SettingsLeftOut,
    ToolsRefused,
    Usage,
)
from toolsupport.core.invisible_chars import UNSEEN
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.sentences import sentence
from toolsupport.core.server_refusals import MALFORMED, MISCONFIGURED, STREAMING, classify
from toolsupport.core.types import ToolCall
from toolsupport.providers.openai_codec import CALL_LOST

# Marks of thoughts within the text: <think>, <mm:think>, [THINK] and those of Gemma and harmony.
THOUGHTS = ("think>", "thinking>", "[THINK]", "channel>thought", "channel|>analysis")
LONGEST_LOOK = 20_000  # characters that are searched for them
SHORT_TOKEN = 2  # bytes; the tokens of a sentence have more on average, in every language


@dataclass(slots=True)
class ProbeReply:
    """One reply. `seconds` is its duration, `first` the time to its first token, `failed` the reason if there is none.

    `written` are the calls as the text had them, "" for native ones. `finish` is the server's finish reason,
    `budget` the allowed tokens, `caps` the token counts at which earlier replies were cut. `beginning` is set if it
    showed how replies of its model begin, other than assumed.
    """

    heard: ReplyBuilder = field(default_factory=ReplyBuilder)
    refused: ToolsRefused | None = None
    failed: Failed | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    first: float = 0.0
    finish: str = ""
    budget: int = 0
    caps: frozenset[int] = frozenset()
    beginning: ReasoningSeen | None = None
    left_out: SettingsLeftOut | None = None

    @property
    def thought(self) -> bool:
        """Whether the model thought, in a field of its own or in its text."""
        return bool(self.thinking.strip()) or any(mark in self.text[:LONGEST_LOOK] for mark in THOUGHTS)

    @property
    def cut(self) -> bool:
        """Whether its tokens were used up. Some servers report "stop" then, and some have a limit of their own.

        If the server counted none, the length decides: few tokens of any language are shorter than SHORT_TOKEN.
        """
        written = self.usage.output_tokens or len(f"{self.thinking}{self.text}".encode()) // SHORT_TOKEN
        return self.finish == "length" or 0 < self.budget <= written or written in self.caps

    @property
    def refuses_streaming(self) -> bool:
        """Whether the server accepts these tools only without streaming."""
        found = classify(self.failed.status, self.failed.body) if self.failed else None
        return found is not None and (found.label, found.rule) == (MISCONFIGURED, STREAMING)

    @property
    def text(self) -> str:
        """The answer."""
        return self.heard.text

    @property
    def thinking(self) -> str:
        """The reasoning."""
        return self.heard.thinking

    @property
    def calls(self) -> list[ToolCall]:
        """The calls that a chat would make."""
        return [made.call for made in self._ready]

    @property
    def written(self) -> list[str]:
        """The same calls as the text had them, "" for native ones."""
        return [made.raw for made in self._ready]

    @property
    def rejected(self) -> list[CallRejected]:
        """The calls that a chat would refuse."""
        return [made for made in self.heard.calls if isinstance(made, CallRejected)]

    @property
    def _ready(self) -> list[CallReady]:
        return [made for made in self.heard.calls if isinstance(made, CallReady)]

    def take(self, event: Event) -> None:
        """Add one event. If a chat would ask again after an unreadable call, earlier calls are void."""
        self.heard.take(event)
        if isinstance(event, Finished):
            self.finish = event.reason
        elif type(event) in KEPT:
            setattr(self, KEPT[type(event)], event)
        if isinstance(event, Failed) and is_malformed(event):
            self.heard.take(CallGarbled(event.message, MALFORMED))


# Event of which the last one counts → the field of a reply.
KEPT: Mapping[type, str] = MappingProxyType(
    {
        ToolsRefused: "refused",
        Failed: "failed",
        Usage: "usage",
        ReasoningSeen: "beginning",
        SettingsLeftOut: "left_out",
    }
)


def trouble(reply: ProbeReply) -> tuple[str, str] | None:
    """Return (code, why) if there is no reply to grade, else None.

    A call that the server could not parse is the model's fault; any other failure proves nothing about it. Neither does
    a reply whose tokens ran out before a call, nor an empty one: servers whose parser drops calls send empty replies.
    """
    if reply.cut and not reply.calls:
        return "cut", sentence("cut_before_call", tokens=reply.usage.output_tokens or reply.budget)
    if reply.failed is None:
        empty = not (UNSEEN.sub("", reply.text).strip() or reply.calls or reply.rejected or reply.refused)
        return ("no_word", _nothing(reply)) if empty else None
    if is_malformed(reply.failed):
        return "malformed", reply.failed.message
    if reply.failed.kind == "empty":
        return "no_word", _nothing(reply)
    return FAILURES.get(reply.failed.kind, "failed"), reply.failed.message


# Kind of failure → the outcome of its trial.
FAILURES: Mapping[str, str] = MappingProxyType({"timeout": "timeout", "cut": "connection_cut"})


def is_malformed(failed: Failed) -> bool:
    """Return True if the server could not read a call that the model wrote."""
    return failed.message == CALL_LOST or classify(failed.status, failed.body).label == MALFORMED


def _nothing(reply: ProbeReply) -> str:
    written = reply.usage.output_tokens or 0
    code = "thought_and_nothing" if reply.thought else "answered_nothing"
    return sentence(f"{code}_counted", tokens=written) if written > 1 else sentence(code)


def calls_of(reply: ProbeReply, tool: str) -> Sequence[ToolCall]:
    """Return the calls of one tool."""
    return [call for call in reply.calls if call.name == tool]

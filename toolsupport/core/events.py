"""Defines the events of one reply, which all providers, parsers and exchanges use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.core.types import ToolCall


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, in order."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the model's reasoning, in order; never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class TextReclassified:
    """The earlier text is classified again, because a reasoning mark arrived late or never.

    `text` replaces all text so far. The last `taken` characters of the reasoning are not reasoning, and `thinking` is
    added to it. All calls so far are void.
    """

    text: str
    thinking: str
    taken: int = 0

    def reasoning(self, so_far: str) -> str:
        """Return the new reasoning of the reply; `so_far` is the earlier one."""
        return so_far[: len(so_far) - self.taken] + self.thinking


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of the arguments of a call that is still being written (JSON text).

    `outside`: nothing so far suggests that the call is inside reasoning; only a later closing mark could show that.
    """

    id: str
    name: str
    text: str
    outside: bool = False


@dataclass(frozen=True, slots=True)
class CallReady:
    """A complete call, one event per call on every protocol. `raw` is the text that the model wrote."""

    call: ToolCall
    raw: str = ""


@dataclass(frozen=True, slots=True)
class CallRejected:
    """A call that will not run: `reason` is written for the model, `suggestion` is an offered name or "".

    `fault` is a key of FAULTS. `arguments` are those of a native call as its server sent them, if they are no object.
    """

    name: str
    reason: str
    raw: str
    id: str = ""
    suggestion: str = ""
    fault: str = "unreadable"
    arguments: str = ""


FAULTS = {
    "unreadable": "what the model wrote cannot be read as a call",
    "unknown": "no tool of this name was offered",
    "schema": "its arguments do not fit the schema of the tool",
    "cut": "the reply ended, by its limit of tokens or by its server, before the call was complete",
}


@dataclass(frozen=True, slots=True)
class CallFound:
    """A complete call inside the text of an answer where no call is expected; it never runs without approval."""

    call: ToolCall
    raw: str
    format: str


@dataclass(frozen=True, slots=True)
class ToolsRefused:
    """The server refused the tools of this request; `rule` names the rule that recognised it.

    `misconfigured`: the server lacks a setting, which proves nothing about the model.
    """

    message: str
    rule: str
    status: int = 0
    misconfigured: bool = False


@dataclass(frozen=True, slots=True)
class CallGarbled:
    """The server could not parse a call of its model, and the model is asked again.

    The reply continues: its text and reasoning stay, its calls do not count.
    """

    message: str
    rule: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts in tokens, durations in milliseconds; None if the server does not report them."""

    prompt_tokens: int | None = None
    output_tokens: int | None = None
    load_ms: float | None = None
    prompt_ms: float | None = None
    output_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The end mark arrived. `reason` is stop, length, tool_calls, load, unload or the server's own value.

    `stopped_at` is the stop string that ended the reply, where the server names it.
    """

    reason: str
    stopped_at: str = ""


@dataclass(frozen=True, slots=True)
class ReasoningSeen:
    """The reply showed whether replies of its model begin inside reasoning."""

    begins_inside: bool


@dataclass(frozen=True, slots=True)
class SchemaDropped:
    """A reply does not even begin as its schema demands: the server did not enforce it."""

    text: str


@dataclass(frozen=True, slots=True)
class SchemaRefused:
    """The server refused a schema; the request is sent again without a `part` of it, a key of SCHEMA_PARTS."""

    message: str
    part: str = "keywords"


@dataclass(frozen=True, slots=True)
class SettingsLeftOut:
    """The reply was made without these settings of its request, because the server refuses them.

    `settings` are names of request fields, "think" among them; `message` is the server's error message.
    """

    settings: tuple[str, ...]
    message: str


SCHEMA_PARTS = {
    "keywords": "keywords that not every server supports",
    "arguments": "the schemas of the arguments: the reply is still a call of an offered tool",
    "all": "all of it: the reply is not constrained",
}


# Servers' names for a limit of tokens that ended the reply: MAX_TOKENS, model_length, incomplete, maxTokensReached …
_LIMITED = re.compile(r"length|limit|max\w*tok|tok\w*(?:max|reach|exce)|incomplete|truncat|context|window", re.I)
# Their names for other ends that the model did not choose: a filter of contents ended the reply, or the server did.
_FILTERED = re.compile(r"filter|safety|recitation|prohibited|blocklist|spii|sensitive|blocked|refus|guardrail", re.I)
_BROKEN_OFF = re.compile(
    r"abort|cancel|error|time_?out|timed|insufficient|interrupt|disconnect|preempt|kill|repetit", re.I
)
# Gemini's, of a call that the service could not read: `function_call_filter: MALFORMED_FUNCTION_CALL`.
_CALL_LOST = re.compile(r"(?:malformed|unexpected|invalid)[_ ](?:function|tool)[_ ]call", re.I)


# OpenAI's finish reason of an answer that was withheld; also that of a reply that is a refusal.
REFUSED = "content_filter"
# Servers' names for an end that a stop string may have caused.
STOPPED = ("stop", "stop_sequence")


def finish_reason(written: str) -> str:
    """Normalise a server's finish reason; every name for a token limit becomes "length"."""
    return "length" if _LIMITED.search(written) else written


def ended_early(reason: str) -> bool:
    """Return whether the model did not end a reply itself: its last part is then incomplete."""
    return is_limited(reason) or _BROKEN_OFF.search(reason) is not None


def is_limited(reason: str) -> bool:
    """Return whether a limit of tokens or a filter ended a reply, as either would end the next one."""
    return reason == "length" or was_filtered(reason)


def was_filtered(reason: str) -> bool:
    """Return whether a filter of contents ended a reply."""
    return _FILTERED.search(reason) is not None and not lost_a_call(reason)


def lost_a_call(reason: str) -> bool:
    """Return whether a reply ended because its server could not read a call of the model."""
    return _CALL_LOST.search(reason) is not None


@dataclass(frozen=True, slots=True)
class Failed:
    """The reply failed. `kind` is one of FAILURES; `message` is for people, with advice.

    `finish` is the finish reason of an empty reply, "" for every other failure. `pause` is how many seconds a busy
    server asks to wait, 0 if it names no number.
    """

    kind: str
    message: str
    status: int = 0
    body: str = ""
    finish: str = ""
    pause: int = 0


FAILURES = {
    "unreachable": "no connection could be made, or it was lost before the first byte",
    "timeout": "the server took longer than a limit allows",
    "cut": "the stream ended without its end mark",
    "garbled": "the bytes are not what this kind of server sends",
    "too_large": "a line or an answer was larger than the limit",
    "unauthorized": "the server requires another key (401, 403)",
    "model_missing": "the server does not have the model (404)",
    "busy": "the server is busy (408, 429, 503, 529)",
    "refused": "the server refused the request (other 4xx)",
    "server": "the server failed (5xx, or an error inside the stream)",
    "unreadable_call": "the model wrote several calls that its server could not read",
    "empty": "the model finished with an empty answer",
    "tool_choice_not_met": "a program required a call, and the model made none",
}

Event = (
    TextDelta
    | ThinkingDelta
    | TextReclassified
    | CallDelta
    | CallReady
    | CallRejected
    | CallFound
    | ToolsRefused
    | CallGarbled
    | ReasoningSeen
    | SchemaDropped
    | SchemaRefused
    | SettingsLeftOut
    | Usage
    | Finished
    | Failed
)

# Every event is compared with these. They are tuples, since building a union of types takes longer than comparing.
PIECES = (TextDelta, ThinkingDelta, CallDelta)
TEXTS = (TextDelta, TextReclassified)
ENDS = (Finished, Failed)


def is_text(batch: Sequence[Event]) -> bool:
    """Return whether a batch is one text of the answer, as most are: it needs no look at its other events."""
    return len(batch) == 1 and type(batch[0]) is TextDelta

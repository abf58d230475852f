"""The types of the simulator: the prompt of a simulated model, its reply."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

JSON = dict[str, Any]

TOKEN = re.compile(r"\s*\S{1,6}|\s+")
# Notes that programs add to a person's words, between markers such as <system-reminder>, <environment_context>.
NOTE = re.compile(r"<(?!tool)([a-z]{1,40}[-_][a-z_-]{1,40})>")
MOST_NOTES = 50
# A backslash always ends a piece, so that every escape is cut in two; longer markers are cut wherever they occur.
AWKWARD = re.compile(r"[^\\]{0,3}\\|[^\\]{1,4}")


@dataclass(frozen=True, slots=True)
class SimulatedCall:
    """One call of a tool."""

    name: str
    arguments: JSON


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """One message of the history; `name` is the tool's name on a tool result, "" if not sent."""

    role: str
    content: str = ""
    calls: tuple[SimulatedCall, ...] = ()
    name: str = ""
    # Not part of the text from which ids of calls are derived.
    images: tuple[bytes, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool of the request; `parameters` is a JSON schema, possibly empty."""

    name: str
    description: str
    parameters: JSON

    @property
    def properties(self) -> dict[str, JSON]:
        """The schema of each parameter; an invalid one counts as empty."""
        given = self.parameters.get("properties")
        named = given.items() if isinstance(given, dict) else ()
        return {name: schema if isinstance(schema, dict) else {} for name, schema in named}

    @property
    def required(self) -> frozenset[str]:
        names = self.parameters.get("required")
        return frozenset(filter(self.properties.__contains__, names if isinstance(names, list) else ()))


@dataclass(frozen=True, slots=True)
class ModelInput:
    """The input of a simulated model; `constraint` is the JSON schema that its server enforces."""

    messages: tuple[HistoryMessage, ...]
    tools: tuple[OfferedTool, ...] = ()
    think: bool = False
    constraint: JSON | None = field(default=None, repr=False)

    @property
    def _since(self) -> int:
        """Return the position of a person's latest message; -1 without any."""
        return max((place for place, message in enumerate(self.messages) if message.role == "user"), default=-1)

    @property
    def asked(self) -> str:
        """A person's latest message, without what their program added to it."""
        return without_notes(self.messages[self._since].content) if self._since >= 0 else ""

    @property
    def results(self) -> tuple[HistoryMessage, ...]:
        """The tool results since a person's latest message, in order."""
        return tuple(message for message in self.messages[self._since + 1 :] if message.role == "tool")


class ReplyEnding(StrEnum):
    """How a reply ends: properly, by a connection cut in mid-stream, or by an error line in mid-stream."""

    STOP = "stop"
    CUT = "cut"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class SimulatedReply:
    """A reply; a bad `ending` comes after `tokens` tokens, or at the end if there are fewer.

    An `awkward` reply is split within its markers and escapes.
    """

    content: str = ""
    thinking: str = ""
    calls: tuple[SimulatedCall, ...] = ()
    ending: ReplyEnding = ReplyEnding.STOP
    tokens: int = 0
    awkward: bool = False

    @property
    def pieces(self) -> list[str]:
        """The content in streamed pieces."""
        return AWKWARD.findall(self.content) if self.awkward else tokens(self.content)


def tokens(text: str) -> list[str]:
    """Split the text into pieces of about a token; joined, they give the text again."""
    return TOKEN.findall(text)


def without_notes(text: str) -> str:
    """Remove the notes, `MOST_NOTES` at most; return the whole text if nothing else is left."""
    kept, since = [], 0
    for _ in range(MOST_NOTES):
        opening = NOTE.search(text, since)
        if opening is None:
            break
        end = text.find(mark := f"</{opening[1]}>", opening.end())
        kept.append(text[since : opening.start() if end >= 0 else opening.end()])
        since = end + len(mark) if end >= 0 else opening.end()
    own = "".join([*kept, text[since:]]).strip()
    return own if kept and own else text

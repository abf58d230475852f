"""Defines the view models of a conversation, the same for a reload as for a live frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chat.statuses import UNFINISHED, CallStatus
from chat.transcript.messages import call_phrases, table_chart
from chat.transcript.messages.call_groups import CallGroup
from toolsupport.core import format_choice
from toolsupport.core.outside_content import OutsideSource
from toolsupport.registry.models.picker_rows import ShownModel

# The icons of calls that did not simply run.
NOT_RUN = dict.fromkeys(("Denied", "Not allowed", "Stopped", "Interrupted", "Not run"), "minus")
SYMBOLS = NOT_RUN | {
    "Queued": "clock",
    "Needs approval": "lock",
    "Expired": "clock",
    "Failed": "cross",
    "Timed out": "cross",
}
# Percent of the context above which the page warns that little is left.
NEARLY_FULL = 80


@dataclass(frozen=True, slots=True)
class ShownOutsideSource:
    """An outside text that a chat contains, and when it was read (None: unknown)."""

    text: str
    at: datetime | None = None


def shown_sources(sources: Iterable[OutsideSource]) -> tuple[ShownOutsideSource, ...]:
    """Return them for a page."""
    return tuple(ShownOutsideSource(one.text, datetime.fromisoformat(one.at) if one.at else None) for one in sources)


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """An open question. `options` are the valid answers; `diff` is the change, or `code` the code to run.

    `proposes`: this person's answer is only a proposal. `outside` is the outside content in the chat that asks.
    `size` is how much would change, `reason` why it asks; `act` and `scope` name the buttons of an approval ("Replace",
    "Replace files in this chat"), `file` the one that a permission can be limited to, `risk` is what its tool may do.
    """

    id: int
    kind: str
    text: str
    options: tuple[str, ...]
    diff: str = ""
    expires_at: datetime | None = None
    proposes: bool = False
    code: str = ""
    outside: tuple[ShownOutsideSource, ...] = ()
    size: str = ""
    reason: str = ""
    act: str = "Run"
    scope: str = ""
    file: str = ""
    risk: str = ""

    @property
    def whole_text(self) -> str:
        """The question with its reason, in one sentence or two."""
        return f"{self.reason} {self.text}".strip()


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A tool card.

    `status` is pending, waiting, running, done, failed, timeout, denied, stopped, interrupted or rejected. `phrase` and
    `target` form the closed line ("Read", "config.json"); `raw` is the model's original text. `asked_as` and
    `asked_arguments` are the requested call, if another tool served it. `inner` are the calls that a program made,
    `program` is the card of the program that made this one. `answer` is that to its approval; `group` the group of a
    card that is sent alone. `age` is for how many seconds it runs already, 0 if it does not run.
    """

    id: str
    name: str
    phrase: str
    target: str
    arguments: dict[str, Any]
    status: str
    format: str
    served_by: str
    asked_as: str = ""
    duration_ms: int | None = None
    result: str = ""
    error: str = ""
    repairs: tuple[str, ...] = ()
    raw: str = ""
    question: ShownQuestion | None = None
    asked_arguments: Mapping[str, Any] = field(default_factory=dict)
    inner: tuple[ShownCall, ...] = ()
    program: str = ""
    icon: str = "tool"
    answer: str = ""
    group: CallGroup[Any] | None = None
    age: int = 0

    @property
    def state(self) -> str:
        """The word for a state other than "ran": Queued, Needs approval, Failed, Denied, Expired …"""
        return call_phrases.state_word(self.status, self.answer)

    @property
    def fact(self) -> str:
        """The fact of the result on its closed line: "5 lines"."""
        return call_phrases.fact(self.name, self.result) if self.result else ""

    @property
    def result_is_chart(self) -> bool:
        """Whether its result is a table of names and numbers, which opens its card."""
        return self.name == "execute_sql" and bool(self.result) and table_chart.fit(self.result)

    @property
    def symbol(self) -> str:
        """The icon of its line: that of its tool, or of a state that ended it."""
        return SYMBOLS.get(self.state, self.icon)

    @property
    def failed(self) -> bool:
        """Whether it failed: a denied or stopped call did not."""
        return self.status in (CallStatus.FAILED, CallStatus.TIMEOUT, CallStatus.REJECTED)

    @property
    def repeatable(self) -> bool:
        """Whether it has ended and can be run again; a program's call runs only with its program."""
        return self.status not in (*UNFINISHED, CallStatus.REJECTED) and not self.program

    @property
    def asks(self) -> bool:
        """Whether it, or a call of its program, waits for a person."""
        return self.question is not None or any(call.question for call in self.inner)

    def to_json(self) -> dict[str, Any]:
        """Return the `call` object of the frames, without its html."""
        call: dict[str, Any] = {
            "id": self.id,
            "name": self.name,
            "arguments": self.arguments,
            "served_by": self.served_by,
            "format": self.format,
            "status": self.status,
            "duration_ms": self.duration_ms,
        }
        optional = {"asked_as": self.asked_as, "result": self.result, "error": self.error, "program": self.program}
        return call | {key: value for key, value in optional.items() if value} | {"repairs": list(self.repairs)}


@dataclass(frozen=True, slots=True)
class ShownUsage:
    """The cost of an answer. `speed` is in tokens per second; `context` and `limit` are tokens. 0 is unknown.

    `constrained` are the tools whose unusable calls were requested again under a schema.
    """

    tokens: int = 0
    speed: float = 0.0
    context: int = 0
    limit: int = 0
    took_ms: int = 0
    constrained: tuple[str, ...] = ()

    @classmethod
    def of(cls, usage: Mapping[str, Any]) -> ShownUsage:
        """Build it from a turn's stored usage; servers may report none of it."""
        tokens, took = usage.get("output_tokens") or 0, usage.get("output_ms") or 0
        speed = round(tokens * 1000 / took, 1) if took >= 1 else 0.0
        context, limit = int(usage.get("context_tokens") or 0), int(usage.get("context_limit") or 0)
        return cls(int(tokens), speed, context, limit, int(took), tuple(usage.get("constrained") or ()))

    @property
    def percent(self) -> int:
        """How full the context is; 0 if unknown."""
        return min(100, round(100 * self.context / self.limit)) if self.limit else 0

    @property
    def nearly_full(self) -> bool:
        return self.percent >= NEARLY_FULL

    @property
    def limit_in_words(self) -> str:
        """The size of the context as models are described: 32K."""
        return f"{self.limit // 1024}K" if self.limit >= 1024 else str(self.limit)


@dataclass(frozen=True, slots=True)
class ShownImages:
    """The images of a message; `seen`: they were sent to the model."""

    conversation: str
    paths: tuple[str, ...]
    seen: bool


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One bubble. `html` is the finished markdown; an unfinished one shows only `text`.

    `formatted` is False if `html` is only the plain form, because nothing was stored that can be used.

    `role` is user, assistant or notice; a notice has a `code` of notices.NOTICES and its text in `text`. `siblings` are
    the ids of the alternatives at its place. `usage` is set when its turn is over; `ended` is the reason of an
    unsuccessful end: stopped, interrupted, model_changed, limit or failed. `about` is the model (id) whose options a
    notice mentions. `may_go_on`: it ended early and can be continued. `asked`: it answers a person, not a program.
    """

    id: int
    parent: int | None
    role: str
    text: str
    html: str = ""
    formatted: bool = True
    thinking: str = ""
    thinking_ms: int | None = None
    finished: bool = True
    turn: int | None = None
    code: str = ""
    model: str = ""
    calls: tuple[ShownCall, ...] = ()
    created_at: datetime | None = None
    ended: str = ""
    ended_detail: str = ""
    siblings: tuple[int, ...] = ()
    usage: ShownUsage | None = None
    images: ShownImages | None = None
    files: tuple[str, ...] = ()
    conversation: str = ""
    about: int | None = None
    may_go_on: bool = False
    asked: bool = False

    @property
    def number(self) -> int:
        """Its position among its siblings, from 1."""
        return self.siblings.index(self.id) + 1 if self.id in self.siblings else 1

    @property
    def previous(self) -> int | None:
        return self.siblings[self.number - 2] if self.number > 1 else None

    @property
    def following(self) -> int | None:
        return self.siblings[self.number] if self.number < len(self.siblings) else None


@dataclass(frozen=True, slots=True)
class ShownConversation:
    """All data of the chat page. `earlier` is the message (id) where the part before the shown one begins,
    `pending` the notes of files that no message has yet.
    """

    id: str
    title: str
    tail: int
    model: ShownModel | None
    messages: tuple[ShownMessage, ...] = ()
    turn: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    questions: tuple[ShownQuestion, ...] = ()
    earlier: int | None = None
    pending: tuple[dict[str, Any], ...] = ()

    @property
    def usage(self) -> ShownUsage | None:
        """The last answer whose context is known."""
        known = (one.usage for one in reversed(self.messages) if one.usage is not None and one.usage.percent)
        return next(known, None)

    @property
    def formats(self) -> tuple[tuple[str, str], ...]:
        """The call formats that may be preferred, with their labels."""
        return tuple((name, format_choice.label(name)) for name in format_choice.names())


@dataclass(frozen=True, slots=True)
class SharedConversation:
    """The contents of a conversation for a reader it is shared with."""

    id: str
    title: str
    owner: str
    messages: tuple[ShownMessage, ...]

"""What is announced to the open pages of a conversation, numbered in the transaction that writes it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from chat.models import Conversation
from chat.transcript import sql
from chat.transcript.messages.view_models import ShownCall, ShownMessage, ShownQuestion
from toolsupport.registry.models.picker_rows import ShownModel


@dataclass(frozen=True, slots=True)
class StartedMessage:
    """A message was added; that of a model is still empty."""

    message: ShownMessage


@dataclass(frozen=True, slots=True)
class FinishedMessage:
    """The text of a message will not change any more."""

    message: ShownMessage


@dataclass(frozen=True, slots=True)
class AddedNotice:
    """A notice was added; `model` is the conversation's as it is now, where the notice is about it.

    `client_id` is that of the frame that led to it.
    """

    message: ShownMessage
    model: ShownModel | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A tool runs, or waits for a person; `message` is the answer that its card is in."""

    message: int
    call: ShownCall


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A tool ended, well or not."""

    message: int
    call: ShownCall


@dataclass(frozen=True, slots=True)
class RejectedCall:
    """A call will not run; `suggestion` is the tool that was probably meant."""

    message: int
    call: ShownCall
    reason: str
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A person is asked."""

    question: ShownQuestion


@dataclass(frozen=True, slots=True)
class EndedQuestion:
    """A question (its id) takes no answer any more; `by` is the name of the person who answered."""

    question: int
    answer: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class StartedTurn:
    """A process runs a turn from now on, with this call format and these tools."""

    turn: int
    model: str
    format: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn waits for the answer to a question (its id)."""

    turn: int
    question: int


@dataclass(frozen=True, slots=True)
class EndedTurn:
    """A turn is over."""

    turn: int
    reason: str
    detail: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SelectedBranch:
    """Another branch is shown, which pages fetch because of its number."""

    message: int


Thing = (
    StartedMessage
    | FinishedMessage
    | AddedNotice
    | StartedCall
    | FinishedCall
    | RejectedCall
    | AskedQuestion
    | EndedQuestion
    | StartedTurn
    | WaitingTurn
    | EndedTurn
    | SelectedBranch
)
Announced = TypeVar("Announced", bound=Thing, covariant=True)


class Announcement(NamedTuple, Generic[Announced]):
    """A thing with its number. The numbers of a conversation have no gap, so a page sees when it missed one."""

    seq: int
    thing: Announced


Announcements = tuple[Announcement[Thing], ...]
One = TypeVar("One", bound=Thing)


def announce(conversation: uuid.UUID, thing: One) -> Announcement[One]:
    """Number a thing, in the transaction that writes it: the count holds back other writers until it is committed."""
    return Announcement(sql.count_up(conversation, 1), thing)


def announce_all(conversation: uuid.UUID, *things: Thing) -> Announcements:
    """Number things that are written together; they follow each other."""
    return _numbered(sql.count_up(conversation, len(things)), things) if things else ()


def announce_messages(conversation: Conversation, *things: Thing) -> Announcements:
    """The same where new messages moved the end of the branch, which is written together with the count."""
    return _numbered(sql.grow(conversation, len(things)), things)


def _numbered(last: int, things: tuple[Thing, ...]) -> Announcements:
    return tuple(Announcement(seq, thing) for seq, thing in enumerate(things, start=last - len(things) + 1))

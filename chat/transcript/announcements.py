"""Defines the announcements to the open pages of a conversation, numbered in the transaction that writes them."""

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
    """The text of a message is final."""

    message: ShownMessage


@dataclass(frozen=True, slots=True)
class AddedNotice:
    """A notice was added; `model` is the chat's current model, if the notice is about it.

    `client_id` is that of the frame that caused it.
    """

    message: ShownMessage
    model: ShownModel | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A tool runs, or waits for approval; `message` is the answer with its card."""

    message: int
    call: ShownCall


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A tool ended, successfully or not."""

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
    """A question to a person was added."""

    question: ShownQuestion


@dataclass(frozen=True, slots=True)
class EndedQuestion:
    """A question (its id) is closed; `by` is the name of the person who answered."""

    question: int
    answer: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class StartedTurn:
    """A process now runs a turn, with this call format and these tools."""

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
    """Another branch is shown; pages fetch it when they see the number."""

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
    """An announcement with its number. The numbers of a conversation have no gap, so a page detects a loss."""

    seq: int
    thing: Announced


Announcements = tuple[Announcement[Thing], ...]
One = TypeVar("One", bound=Thing)


def announce(conversation: uuid.UUID, thing: One) -> Announcement[One]:
    """Number an announcement in the writing transaction; the counter blocks other writers until it commits."""
    return Announcement(sql.count_up(conversation, 1), thing)


def announce_all(conversation: uuid.UUID, *things: Thing) -> Announcements:
    """Number announcements that are written together; they are consecutive."""
    return _numbered(sql.count_up(conversation, len(things)), things) if things else ()


def announce_messages(conversation: Conversation, *things: Thing) -> Announcements:
    """Number announcements of new messages that moved the end of the branch, stored together with the counter."""
    return _numbered(sql.grow(conversation, len(things)), things)


def _numbered(last: int, things: tuple[Thing, ...]) -> Announcements:
    return tuple(Announcement(seq, thing) for seq, thing in enumerate(things, start=last - len(things) + 1))

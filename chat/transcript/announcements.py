"""What is announced to the open pages of a conversation, numbered in the transaction that writes it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from chat.models import Conversation
from chat.transcript import sql
from chat.transcript.messages.view_models import ShownMessage


@dataclass(frozen=True, slots=True)
class StartedMessage:
    """A message was added; that of a model is still empty."""

    message: ShownMessage


@dataclass(frozen=True, slots=True)
class StartedTurn:
    """A process runs a turn from now on, with this call format and these tools."""

    turn: int
    model: str
    format: str
    tools: tuple[str, ...]


Thing = StartedMessage | StartedTurn


@dataclass(frozen=True, slots=True)
class Announcement:
    """A thing with its number. The numbers of a conversation have no gap, so a page sees when it missed one."""

    seq: int
    thing: Thing


def announce(conversation: uuid.UUID, *things: Thing) -> tuple[Announcement, ...]:
    """Number things, in the transaction that writes them: the count holds back all other writers until it ends."""
    return _numbered(sql.count_up(conversation, len(things)), things)


def announce_messages(conversation: Conversation, *things: Thing) -> tuple[Announcement, ...]:
    """The same where new messages moved the end of the branch, which is written together with the count."""
    return _numbered(sql.grow(conversation, len(things)), things)


def _numbered(last: int, things: tuple[Thing, ...]) -> tuple[Announcement, ...]:
    return tuple(Announcement(seq, thing) for seq, thing in enumerate(things, start=last - len(things) + 1))

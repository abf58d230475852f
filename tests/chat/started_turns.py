"""Turns that begin as a person's request does, without the process that would run them."""

from __future__ import annotations

from typing import TypeVar

from django.contrib.auth.models import User

from chat.transcript.announcements import Announcements, StartedMessage
from chat.transcript.messages.view_models import ShownMessage
from chat.transcript.turns.begin import AcceptedMessage, TurnBuilder, TurnRequest, begin


def accept(person: User, conversation: str, builder: TurnBuilder, owner: str = "") -> AcceptedMessage:
    """The turn that a request leads to; `owner` runs it from now on."""
    return begin(TurnRequest(person, conversation, builder, owner))


def reply_of(begun: AcceptedMessage) -> ShownMessage:
    """The empty reply that a turn which began at once writes into."""
    assert begun.claimed is not None
    thing = begun.claimed.opening[-1].thing
    assert isinstance(thing, StartedMessage) and thing.message.id == begun.claimed.reply
    return thing.message


def numbers(begun: AcceptedMessage) -> list[int]:
    """The numbers of all that a turn announces where it begins."""
    opening = begun.claimed.opening if begun.claimed else ()
    return [each.seq for each in (*begun.announced, *opening)]


Kind = TypeVar("Kind")


def things(announced: Announcements, kind: type[Kind]) -> list[Kind]:
    """What is announced of one kind."""
    return [each.thing for each in announced if isinstance(each.thing, kind)]

"""A share that was withdrawn counts nowhere any more, and stays as a trace of when it ended."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime

import pytest
from django.contrib.auth.models import User

from chat.models import Conversation, Share
from chat.transcript.people import sharing
from tests.factories import ConversationFactory, UserFactory
from toolsupport.core.errors import NotFound


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return ConversationFactory(owner=alice, title="Holidays")


@pytest.fixture
def dora(db: None) -> User:
    return UserFactory(username="dora", role="user")


def share(conversation: Conversation, name: str = "dora") -> None:
    sharing.share(conversation.owner, str(conversation.pk), name)


def withdraw(conversation: Conversation, name: str = "dora") -> None:
    sharing.withdraw(conversation.owner, str(conversation.pk), name)


def can_read(conversation: Conversation, reader: User) -> bool:
    try:
        return sharing.read(reader, uuid.UUID(str(conversation.pk))).title == "Holidays"
    except NotFound:
        return False


def is_offered(conversation: Conversation, reader: User) -> bool:
    return [one.person for one in sharing.with_me(reader)] == [conversation.owner.username]


def is_listed(conversation: Conversation, reader: User) -> bool:
    found, _ = sharing.readers(conversation.owner, str(conversation.pk))
    return [one.person for one in found] == [reader.username]


WAYS = (can_read, is_offered, is_listed)


# C11: every place that asks who may read.
@pytest.mark.parametrize("holds", WAYS)
def test_each_place_forgets_a_withdrawn_share(
    conversation: Conversation, dora: User, holds: Callable[[Conversation, User], bool]
) -> None:
    assert not holds(conversation, dora)
    share(conversation)
    assert holds(conversation, dora)
    withdraw(conversation)
    assert not holds(conversation, dora)
    share(conversation)
    assert holds(conversation, dora)


def ends(conversation: Conversation) -> list[datetime | None]:
    return list(Share.objects.filter(conversation=conversation).order_by("pk").values_list("withdrawn_at", flat=True))


def test_an_end_keeps_its_time(conversation: Conversation, dora: User) -> None:
    share(conversation)
    withdraw(conversation)
    [first] = ends(conversation)
    assert first is not None
    share(conversation)
    share(conversation)  # already in force: nothing is added
    assert ends(conversation) == [first, None]
    withdraw(conversation)
    assert ends(conversation)[0] == first and None not in ends(conversation)


def test_only_the_named_reader_and_conversation_are_meant(conversation: Conversation, dora: User, alice: User) -> None:
    other = ConversationFactory(owner=alice, title="Holidays")
    emil = UserFactory(username="emil", role="user")
    for one, name in ((conversation, "dora"), (conversation, "emil"), (other, "dora")):
        share(one, name)
    withdraw(conversation)
    assert [can_read(*each) for each in ((conversation, dora), (conversation, emil), (other, dora))] == [
        False,
        True,
        True,
    ]


def test_what_somebody_shares_who_is_kept_out_is_read_by_nobody(conversation: Conversation, dora: User) -> None:
    share(conversation)
    User.objects.filter(pk=conversation.owner_id).update(is_active=False)
    assert not can_read(conversation, dora) and not is_offered(conversation, dora)

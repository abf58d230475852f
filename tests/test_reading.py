"""Reading a page changes nothing: no GET writes a row."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.models import Conversation
from tests.factories import ConversationFactory, ModelProfileFactory
from tests.parameters import KINDS
from tests.tables import every
from tests.test_permissions import (
    ADDRESSES,
    ALONE,
    AT_ONCE,
    QUERIES,
    Address,
    Visitor,
    out_there,
    put_away,
    undone,
    visitor,
)

__all__ = ["out_there"]
WRITE = re.compile(r"\s*(?:INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)\b", re.I)
# Addresses whose GET writes, each with the reason.
PROBES = {"readyz"}  # it writes a row and deletes it, at most once in some seconds, to see whether that can be done
WRITES = {
    "chat": "`/` leads to the newest conversation and creates the first one (DESIGN 6)",
}


@pytest.fixture
def visitors(db: None) -> dict[str, Visitor]:
    return {who: visitor(who) for who in ("admin", "user")}


def written(address: Address, visiting: Visitor) -> list[str]:
    """The statements that a GET of one's own thing wrote with."""
    person, client = visiting
    url = reverse(address.name, args=[KINDS[name].own(person) for name in address.parameters])
    with CaptureQueriesContext(connection) as queries:
        answered: Any = client.get(url, QUERIES.get(address.name, {}))
        put_away(answered)
    return [query["sql"][:200] for query in queries if WRITE.match(query["sql"])]


@every("address", [one for one in AT_ONCE if one.name not in {*WRITES, *PROBES}])
def test_a_get_writes_nothing(address: Address, visitors: dict[str, Visitor], out_there: None) -> None:
    with undone(*visitors.values()):
        assert {who: found for who, one in visitors.items() if (found := written(address, one))} == {}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ALONE)
def test_a_get_that_waits_writes_nothing(address: Address, visitors: dict[str, Visitor], out_there: None) -> None:
    assert {who: found for who, one in visitors.items() if (found := written(address, one))} == {}


@pytest.mark.django_db
def test_an_address_that_writes_is_found() -> None:
    for name in WRITES:
        address = next(one for one in ADDRESSES if one.name == name)
        assert any(written(address, visitor(who)) for who in ("admin", "user")), name


@pytest.mark.django_db
def test_a_conversation_without_a_model_shows_the_first_choice_and_keeps_none() -> None:
    person, client = visitor("user")
    conversation = ConversationFactory(owner=person, profile=None)
    ModelProfileFactory(name="the-only-one")
    assert b"the-only-one" in client.get(reverse("conversation", args=[conversation.pk])).content
    assert Conversation.objects.get(pk=conversation.pk).profile_id is None

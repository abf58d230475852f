"""A chat over its person's quota stores nothing; an answer adds its tokens at its end."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Conversation, Message, Turn
from chat.statuses import TurnStatus
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import end
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept
from tests.factories import ConversationFactory
from toolsupport.core.errors import QuotaSpent
from toolsupport.core.quota_rules import Quota
from toolsupport.models import QuotaUse
from toolsupport.registry.people import quota_use, quotas

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation() -> Conversation:
    made: Conversation = ConversationFactory()
    quotas.put("person", str(made.owner_id), Quota(requests_day=1, tokens_day=100))
    return made


def asked(conversation: Conversation, client_id: str) -> int:
    return accept(conversation.owner, str(conversation.pk), SentMessage(client_id, "Hello"), "me").turn


def used(conversation: Conversation) -> list[int]:
    [subject] = quotas.limited(conversation.owner_id)
    return [share.used for share in quota_use.shares(subject)]


def ended(turn: int, reason: str, **usage: int) -> None:
    end.end(TurnStore("me", turn), end.TurnOutcome(reason, usage=usage))


def test_an_end_reads_no_conversation_for_the_quota(conversation: Conversation) -> None:
    turn = asked(conversation, "c1")
    with CaptureQueriesContext(connection) as made:
        ended(turn, TurnStatus.DONE, output_tokens=12)
    assert used(conversation) == [1, 12]
    assert not [one["sql"] for one in made if 'FROM "chat_conversation"' in one["sql"]]


def test_a_message_over_the_quota_stores_nothing(conversation: Conversation) -> None:  # P5
    ended(asked(conversation, "c1"), TurnStatus.DONE, prompt_tokens=30, output_tokens=12)
    assert used(conversation) == [1, 42]
    before = Message.objects.count(), Turn.objects.count()
    with pytest.raises(QuotaSpent, match="1 request per day"):
        asked(conversation, "c2")
    assert (Message.objects.count(), Turn.objects.count()) == before
    assert asked(conversation, "c1") == Turn.objects.get().pk  # a repeated request finds its turn


@pytest.mark.parametrize("reason", [TurnStatus.STOPPED, TurnStatus.INTERRUPTED, TurnStatus.FAILED, TurnStatus.DONE])
def test_what_no_server_counted_is_estimated(conversation: Conversation, reason: str) -> None:  # P5
    quotas.put("person", str(conversation.owner_id), Quota(requests_day=9, tokens_day=9_000))
    ended(asked(conversation, "c1"), TurnStatus.DONE, prompt_tokens=300, output_tokens=100, context_tokens=400)
    turn = asked(conversation, "c2")
    Message.objects.create(
        conversation=conversation, turn_id=turn, role="assistant", content="a" * 80, thinking="b" * 20
    )
    ended(turn, reason)
    assert used(conversation) == [2, 400 + 400 + 25]


@pytest.mark.parametrize(("reason", "usage", "wanted"), [
    (TurnStatus.FAILED, {}, [0, 0]),
    (TurnStatus.FAILED, {"prompt_tokens": 5, "output_tokens": 1}, [1, 6]),
    (TurnStatus.STOPPED, {}, [1, 0]),
])  # fmt: skip
def test_what_an_end_counts(conversation: Conversation, reason: str, usage: dict[str, int], wanted: list[int]) -> None:
    ended(asked(conversation, "c1"), reason, **usage)
    assert used(conversation) == wanted


def test_a_request_at_midnight_is_given_back_on_the_day_that_counted_it(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:  # P5
    """Every look at the clock is a second later: however often it is read, midnight falls between two of them."""
    for before in range(1, 9):
        clock = datetime(2026, 10, 31, 23, 59, 60 - before, tzinfo=UTC)
        readings = iter(clock + timedelta(seconds=number) for number in range(1_000))
        with monkeypatch.context() as patched:
            patched.setattr(timezone, "now", lambda readings=readings: next(readings))
            ended(asked(conversation, f"c{before}"), TurnStatus.FAILED)
        assert {row.day: row.requests for row in QuotaUse.objects.all()} in (
            {date(2026, 10, 31): 0},
            {date(2026, 11, 1): 0},
        )
        QuotaUse.objects.all().delete()


def test_a_request_that_began_before_its_quota_takes_nothing_off(conversation: Conversation) -> None:  # P5
    person = str(conversation.owner_id)
    quotas.put("person", person, Quota())
    turn = asked(conversation, "c1")
    quotas.put("person", person, Quota(requests_day=1, tokens_day=100))
    ended(turn, TurnStatus.FAILED)
    assert used(conversation) == [0, 0]

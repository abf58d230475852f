"""The result of a tool is stored, or its call fails: the turn continues."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.db import DataError, OperationalError

from chat.broadcast import fragments
from chat.models import ResultTable, ToolRun
from chat.tools.policy import CallOutcome
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import record
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept, reply_of
from tests.factories import ConversationFactory
from toolsupport.core.errors import Lost
from toolsupport.core.types import ToolCall, ToolResult

pytestmark = pytest.mark.django_db
QUERY = ToolCall("c1", "execute_sql", {"source": "shop", "query": "SELECT 1"})
TABLE = CallOutcome("done", ToolResult("a\n1\n\n[1 row.]", table="a\n1\n"), 5)


@pytest.fixture
def run(alice: User) -> ToolRun:
    """A query that runs, in an answer of this process."""
    accepted = accept(alice, str(ConversationFactory(owner=alice).pk), SentMessage("c1", "go"), "me")
    store, asked = TurnStore("me", accepted.turn), record.RequestedCall(QUERY, "native", "A1")
    record.finish_reply(store, reply_of(accepted).id, record.FinishedReply("", "", None, (asked,)))
    record.start_call(store, QUERY.id)
    return ToolRun.objects.get()


def close(run: ToolRun) -> ToolRun:
    record.close_call(TurnStore("me", run.turn_id), run.pk, TABLE)
    return ToolRun.objects.get()


def test_a_result_is_kept_with_its_table(run: ToolRun) -> None:
    assert (close(run).status, ResultTable.objects.get().csv) == ("done", "a\n1\n")


@pytest.mark.parametrize("error", [ValueError("x"), DataError("x"), KeyError("x")])
def test_a_table_that_cannot_be_written_fails_its_call(
    run: ToolRun, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(ResultTable.objects, "create", Mock(side_effect=error))
    kept = close(run)
    assert (kept.status, kept.result, kept.duration_ms) == ("failed", "", 5)
    assert "could not be stored" in kept.error and not ResultTable.objects.exists()


@pytest.mark.parametrize("error", [OperationalError("locked"), Lost("over")])
def test_a_database_that_is_away_or_a_lost_turn_is_no_fault_of_the_call(
    run: ToolRun, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(ResultTable.objects, "create", Mock(side_effect=error))
    with pytest.raises(type(error)):
        close(run)


def test_a_card_that_cannot_be_rendered_is_shown_without_its_result(
    run: ToolRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = record.close_call(TurnStore("me", run.turn_id), run.pk, TABLE).thing.call
    assert '<td dir="auto">1</td>' in fragments.call(shown)
    monkeypatch.setattr("chat.templatetags.readable.table_chart.query_table", Mock(side_effect=RuntimeError))
    html = fragments.call(shown)
    assert "cannot be shown" in html and "<td" not in html and f'id="call-{run.pk}"' in html

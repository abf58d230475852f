"""Deeds that people answer for stay as they were written, or it shows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from toolsupport.models import Audit
from toolsupport.registry.people import audit_log

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(bob: User) -> list[int]:
    for subject in ("a", "b", "c"):
        audit_log.write(bob.pk, "read_conversation", subject, f"why  {subject}\n")
    return list(Audit.objects.order_by("id").values_list("pk", flat=True))


# SAFETY 3
def test_what_was_done_is_told_with_its_reason(three: list[int]) -> None:
    [entry] = audit_log.about("read_conversation", "b")
    assert (entry.actor, entry.reason) == ("bob", "why b")
    assert audit_log.broken_at() is None


@pytest.mark.parametrize("changed", [{"reason": "x"}, {"subject": "x"}, {"deed": "x"}, {"at": "2001-01-01T00:00Z"}])
def test_a_changed_row_shows(three: list[int], changed: dict[str, Any]) -> None:
    Audit.objects.filter(pk=three[1]).update(**changed)
    assert audit_log.broken_at() == three[1]


def test_another_name_under_it_shows(three: list[int], alice: User) -> None:
    Audit.objects.filter(pk=three[0]).update(actor=alice)
    assert audit_log.broken_at() == three[0]


def test_a_row_that_is_gone_shows_at_the_next(three: list[int]) -> None:
    Audit.objects.filter(pk=three[1]).delete()
    assert audit_log.broken_at() == three[2]


@pytest.mark.parametrize("reason", ["", " \n ", "x" * 501])
def test_without_a_reason_nothing_is_written(bob: User, reason: str) -> None:
    with pytest.raises(ValueError, match="Give a reason"):
        audit_log.write(bob.pk, "read_conversation", "a", reason)
    assert not Audit.objects.exists()


def test_an_unknown_deed_is_none(bob: User) -> None:
    with pytest.raises(KeyError):
        audit_log.write(bob.pk, "dreamt", "a", "why")


def test_the_log_is_written_as_json_lines(
    three: list[int], client: Client, bob: User, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:  # P8
    monkeypatch.setattr(audit_log, "BATCH", 2)
    call_command("export_audit")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["id"], row["actor"], row["subject"], row["reason"]) for row in rows] == [
        (number, "bob", subject, f"why {subject}") for number, subject in zip(three, "abc", strict=True)
    ]
    assert rows[0]["digest"] == rows[1]["previous"] == Audit.objects.get(pk=three[0]).digest
    call_command("export_audit", f"--after={three[1]}")
    assert json.loads(capsys.readouterr().out)["id"] == three[2]
    client.force_login(bob)
    answer = client.get("/people/audit/export.jsonl")

    async def whole() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])  # type: ignore[attr-defined]

    assert [json.loads(line) for line in async_to_sync(whole)().splitlines()] == rows


def test_an_action_takes_three_queries_in_an_empty_log_too(bob: User) -> None:
    for earlier in (0, 1):
        assert Audit.objects.count() == earlier
        with CaptureQueriesContext(connection) as captured:
            audit_log.write(bob.pk, "approve_tool", "tool:1", "read")
        asked = [query["sql"].split()[0] for query in captured if query["sql"].split()[0] in ("SELECT", "INSERT")]
        assert asked == ["SELECT", "SELECT", "INSERT"], earlier
    assert audit_log.broken_at() is None

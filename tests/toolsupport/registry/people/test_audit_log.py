"""Deeds that people answer for stay as they were written, or it shows."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

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

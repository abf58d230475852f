"""Servers with a problem are counted for administrators: each once, and until it is solved."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.models import Server
from toolsupport.registry.servers import missing_flags, reachability

pytestmark = pytest.mark.django_db


def long_down(server: Server, minutes: int = 3) -> None:
    reachability.record_failure(server.pk, "no connection")
    Server.objects.filter(pk=server.pk).update(down_since=timezone.now() - timedelta(minutes=minutes))


def test_a_server_with_two_problems_counts_once_until_both_are_solved() -> None:  # P9
    profile = ModelProfileFactory()
    assert reachability.with_problems().count() == 0
    missing_flags.missing(profile.pk, "--jinja")
    long_down(profile.server)
    assert reachability.with_problems().count() == 1
    missing_flags.solved(profile.pk)
    assert reachability.with_problems().count() == 1
    reachability.answered_in_use(profile.server_id)
    assert reachability.with_problems().count() == 0


@pytest.mark.parametrize(
    ("minutes", "changed", "count"),
    [(3, {}, 1), (1, {}, 0), (3, {"enabled": False}, 0), (3, {"removed_at": timezone.now()}, 0)],
)
def test_a_restart_and_a_server_out_of_use_are_no_problem(minutes: int, changed: dict[str, object], count: int) -> None:
    ServerFactory()
    server = ServerFactory()
    long_down(server, minutes)
    Server.objects.filter(pk=server.pk).update(**changed)
    assert reachability.with_problems().count() == count

"""Looking for work each second costs one statement, and no transaction, where nothing waits."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.transcript.turns import comparisons
from chat.transcript.turns import leases as turn_leases
from toolsupport.registry.exams import exam_runs
from toolsupport.registry.servers import pulls

LOOKS = {
    "comparisons": lambda: comparisons.claim("me"),
    "downloads": lambda: pulls.claim("me"),
    "exams": lambda: exam_runs.claim("me"),
    "turns": lambda: turn_leases.settle(),
}


@pytest.mark.django_db
@pytest.mark.parametrize("look", LOOKS.values(), ids=list(LOOKS))
def test_a_look_for_nothing_is_one_statement(look: Callable[[], object]) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert look() in (None, ([], []))
    assert [query["sql"].split()[0] for query in asked] == ["SELECT"]

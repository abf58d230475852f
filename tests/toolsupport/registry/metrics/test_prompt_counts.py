"""The shortest count of each set of tools is kept (F9)."""

from __future__ import annotations

import pytest

from toolsupport.core.prompt.token_counts import Counted, Counts
from toolsupport.registry.metrics import prompt_counts


@pytest.mark.django_db
def test_the_shortest_request_stays() -> None:
    for digest, seen in [
        ("", Counted(50, 20)),
        ("d", Counted(90, 300)),
        ("d", Counted(60, 290)),
        ("d", Counted(99, 1)),
    ]:
        prompt_counts.learn("b", digest, seen)
    prompt_counts.learn("other build", "d", Counted(1, 1))
    assert prompt_counts.known("b", "d") == Counts(Counted(60, 290), Counted(50, 20))
    assert prompt_counts.known("b", "") == Counts(None, Counted(50, 20))
    assert prompt_counts.known("new", "d") == Counts()

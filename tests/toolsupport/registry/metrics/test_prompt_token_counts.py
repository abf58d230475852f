"""The shortest count of each set of tools is kept (F9)."""

from __future__ import annotations

import pytest

from toolsupport.core.prompt.token_counts import MeasuredPrompt, TokenCounts
from toolsupport.registry.metrics import prompt_token_counts


@pytest.mark.django_db
def test_the_shortest_request_stays() -> None:
    for digest, seen in [
        ("", MeasuredPrompt(50, 20)),
        ("d", MeasuredPrompt(90, 300)),
        ("d", MeasuredPrompt(60, 290)),
        ("d", MeasuredPrompt(99, 1)),
    ]:
        prompt_token_counts.learn("b", digest, seen)
    prompt_token_counts.learn("other build", "d", MeasuredPrompt(1, 1))
    assert prompt_token_counts.known("b", "d") == TokenCounts(MeasuredPrompt(60, 290), MeasuredPrompt(50, 20))
    assert prompt_token_counts.known("b", "") == TokenCounts(None, MeasuredPrompt(50, 20))
    assert prompt_token_counts.known("new", "d") == TokenCounts()

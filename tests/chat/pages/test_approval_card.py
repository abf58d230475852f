"""The content of an approval about its call."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from tests.markup import flat


@pytest.mark.parametrize(
    ("code", "risk", "shown", "hidden"),
    [
        ("{}", "outside", "No arguments", "<pre"),
        ('{"path": "a"}', "outside", 'aria-label="Arguments">', "No arguments"),
        ("ls -la", "code", 'aria-label="Program">ls -la', "No arguments"),
    ],
)
def test_what_would_run_is_named_by_what_it_is(code: str, risk: str, shown: str, hidden: str) -> None:
    question = {"id": 1, "text": "Run it?", "act": "Run", "options": ["once"], "code": code, "risk": risk}
    card = flat(render_to_string("chat/approval.html", {"question": question, "call": {"arguments": {}}}))
    assert shown in card and hidden not in card

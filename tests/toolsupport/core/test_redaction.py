"""Secrets are removed from a text, however often it was quoted, and no text takes long."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.core import redaction
from toolsupport.core.redaction import GONE, redact, redact_json

SECRET = "hunter2hunter2"
WRITTEN = (
    f"password={SECRET}",
    f"password: {SECRET}, and more",
    f'{{"api_key": "{SECRET}"}}',
    f"Authorization: Bearer {SECRET}",
    f"curl -H 'Authorization: Basic {SECRET}'",
    f"postgres://ana:{SECRET}@db/x",
    f"https://e.example/?access_token={SECRET}&page=2",
    f"the key sk-{SECRET} is mine",
)


@every("text", WRITTEN)
def test_a_secret_leaves_a_text_and_json_of_json_that_holds_it(text: str) -> None:
    for _ in range(3):
        assert SECRET not in redact(text) and GONE in redact(text), text
        text = json.dumps({"content": text})


PIECES = st.sampled_from(
    (
        *(
            '{"model":"m","content":"',
            '{"model":"token=1","content":"',
            'data: {"delta":{"content":"',
            "data: ",
            "data",
        ),
        *('"}\n', "\n", '"', "{", "passw", "ord=", "to", "ken: ", "sk", "-", "_", "abcdefghijklmnop", "bear"),
        *("er ", "secret", "SECRET=", "api", "_key=", "://a:", "b@c", "xai-", "ghp_", "hf", "csrf", "token", "é", "İ"),
        *WRITTEN,
    )
)


@given(st.lists(PIECES, max_size=30), st.integers(1, 3))
def test_a_text_of_repeated_lines_loses_what_it_would_lose_by_all_patterns(pieces: list[str], times: int) -> None:
    text = expected = "".join(pieces) * times
    for _, pattern in redaction.PATTERNS:
        expected = pattern.sub(rf"\g<1>{GONE}", expected)
    assert redaction._redacted(text) == expected


def test_a_secret_in_a_streamed_reply_leaves_it() -> None:
    lines = [
        f'{{"model":"m","message":{{"content":"{word}"}}}}' for word in ("the ", "pass", f"key sk-{SECRET}", " it")
    ]
    assert SECRET not in redact("\n".join(lines * 20))
    assert SECRET not in redact("\n".join(f"data: {line}" for line in lines * 20))
    named = [f'{{"model":"m","key":"token={SECRET}","content":"{word}"}}' for word in ("the ", "end")]
    assert SECRET not in redact("\n".join(named * 20)), "in what all lines begin with"
    times = [
        f'{{"model":"m","created_at":"12:00:0{number}","key":"{key}{SECRET}","content": "{number}"}}'
        for number, key in enumerate(("taken=", "token=", "taken="))
    ]
    assert SECRET not in redact("\n".join(times).replace(f"taken={SECRET}", "taken=")), "in one that begins otherwise"


def test_a_secret_leaves_a_json_value() -> None:
    given = {"messages": [{"content": WRITTEN[0]}], "arguments": {"password": SECRET, "tokens": 3, "token": ""}}
    found = redact_json(given)
    assert SECRET not in json.dumps(found)
    assert found["arguments"] == {"password": GONE, "tokens": 3, "token": ""}


def test_what_is_known_leaves_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_known", {"plain-as-day"})
    assert redact("it is plain-as-day") == f"it is {GONE}"


def test_a_secret_leaves_texts_that_were_redacted_before_it_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_known", set())
    assert redact("it is noticed-later") == "it is noticed-later"
    redaction.add_secrets("noticed-later")
    assert redact("it is noticed-later") == f"it is {GONE}"


# S1
def test_no_text_takes_long() -> None:
    with must_cost_at_most(5):
        for piece in ("token", "password ", "a://", "bearer ", "authorization: ", "sk-", "secret=", "token\\"):
            redact(piece * (200_000 // len(piece)))

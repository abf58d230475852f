"""What looks like a secret leaves a text, however often it was quoted, and no text takes long."""

from __future__ import annotations

import json
import time

import pytest

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
    begun = time.perf_counter()
    for piece in ("token", "password ", "a://", "bearer ", "authorization: ", "sk-", "secret=", "token\\"):
        redact(piece * (200_000 // len(piece)))
    assert time.perf_counter() - begun < 5

"""Log lines are one line of text or one object each, and hold no secret."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.config.logs import JsonFormatter, TextFormatter, request_id
from toolsupport.core import redaction
from toolsupport.core.redaction import GONE, redact

SECRET = "Xq7-canary-Zz"

# Texts in which the secret stands, and a word of each that has to stay.
TOLD = [
    (f"Authorization: Bearer {SECRET}", "Authorization"),
    (f'{{"authorization": "Bearer {SECRET}"}}', "authorization"),
    (f"{{'password': '{SECRET}', 'name': 'ana'}}", "ana"),
    (f"POST /login/?password={SECRET}&next=/models/", "next=/models/"),
    (f"/setup/?token={SECRET} was asked", "was asked"),
    (f"Cookie: csrftoken={SECRET}; sessionid={SECRET}; theme=dark", "theme=dark"),
    (f"postgres://ana:{SECRET}@db.example.org/chat", "db.example.org"),
    (f"api_key='{SECRET}' does not fit", "does not fit"),
    (f'{{"api-key":"{SECRET}"}}', "api-key"),
    ("Incorrect key: sk-proj-Xq7canaryZz0123456789", "Incorrect key"),
    (f"bearer {SECRET}0123456789==", "bearer"),
]


@every(("text", "stays"), TOLD)
def test_what_looks_like_a_secret_goes_and_the_rest_stays(text: str, stays: str) -> None:
    told = redact(text)
    assert SECRET not in told and "canary" not in told
    assert stays in told and GONE in told


@pytest.mark.parametrize(
    "text",
    ["GET /models/ 200 in 3 ms", "the password is asked for", "http://127.0.0.1:8000/a:b@c"],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redact(text) == text


def test_a_value_we_know_goes_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_known", set())
    redaction.add_secrets("wordlike", "wordlike-and-longer", "", "short")
    assert redact("a wordlike-and-longer b wordlike c short") == f"a {GONE} b {GONE} c short"


@given(st.text(max_size=200))
def test_any_text_can_be_redacted(text: str) -> None:
    assert isinstance(redact(text), str)


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("chat.turns.runner", logging.WARNING, __file__, 1, message, args, None)
    vars(made).update(extra)
    return made


def failed() -> logging.LogRecord:
    try:
        raise ValueError(f"password={SECRET}")
    except ValueError:
        made = record("it failed")
        made.exc_info = sys.exc_info()
        return made


@pytest.mark.parametrize("lines", [TextFormatter(), JsonFormatter()])
def test_arguments_extras_and_tracebacks_are_clean_too(lines: logging.Formatter) -> None:
    for made in (record("token=%s", SECRET), record("x", note=f"token={SECRET}"), failed()):
        assert SECRET not in lines.format(made)
    assert "ValueError" in lines.format(failed())


def test_an_object_for_each_line() -> None:
    token = request_id.set("abc12345")
    try:
        line = JsonFormatter().format(record("two\nlines %d", 3, status=200, held=object()))
        text = TextFormatter().format(record("one"))
    finally:
        request_id.reset(token)
    told = json.loads(line)
    assert "\n" not in line and text.endswith("chat.turns.runner: one [abc12345]")
    assert told["message"] == "two\nlines 3" and told["level"] == "WARNING" and told["status"] == 200
    assert told["request"] == "abc12345" and "held" not in told and told["time"].endswith("+00:00")

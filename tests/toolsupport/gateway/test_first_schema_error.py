"""The first error of a body is found without an error for each wrong item."""

from __future__ import annotations

from typing import Any

import pytest

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.gateway.chat_schemas import QUESTIONS
from toolsupport.gateway.embeddings.schemas import CHECK as EMBEDDINGS
from toolsupport.gateway.first_schema_error import first_error
from toolsupport.gateway.messages.schemas import CHECK as MESSAGES
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.request_schemas import BodyCheck
from toolsupport.gateway.responses.schemas import CHECK as RESPONSES

GOOD = {"type": "text", "text": "a"}


def said(content: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": content}]}


WRONG = (
    (QUESTIONS, said([{"type": "x"}] * 100_000), "`messages[0].content[0]`"),
    (
        QUESTIONS,
        said([GOOD] * 70_000 + [{"type": "text", "text": 1}] + [GOOD] * 9),
        "`messages[0].content[70000].text`",
    ),
    (QUESTIONS, {"model": "m", "messages": [*[{"role": "user", "content": "a"}] * 130, 1]}, "`messages[130]`"),
    (QUESTIONS, {**said("a"), "stop": ["a"] * 100_000}, "`stop` must be a text, or a list of at most 16"),
    (MESSAGES, said([1] * 100_000), "`messages[0].content[0]`"),
    (RESPONSES, {"model": "m", "input": [{"role": "user", "content": [1] * 100_000}]}, "`input[0].content"),
    (EMBEDDINGS, {"model": "m", "input": ["a"] * 100_000}, "`input` must be"),
    (EMBEDDINGS, {"model": "m", "input": [[1] * 10] * 100_000}, "`input` must be"),
    (EMBEDDINGS, {"model": "m", "input": ["a"] * 100 + [None]}, "`input` must be"),
)


# S1: it took up to 14 s.
@every("check, body, field", WRONG)
def test_the_first_wrong_item_is_named_at_once(check: BodyCheck, body: Any, field: str) -> None:
    with must_cost_at_most(1), pytest.raises(InvalidField) as raised:
        check.check(body)
    assert str(raised.value).startswith(field)


def test_large_bodies_that_fit_pass() -> None:
    assert first_error(QUESTIONS._validator, said([GOOD] * 50_000)) is None
    assert first_error(EMBEDDINGS._validator, {"model": "m", "input": [[1] * 500] * 2048}) is None


def test_an_error_that_no_part_has_names_the_whole_body() -> None:
    """The wrong part is at the beginning of a list that is longer than the index of its message."""
    good = {"role": "user", "content": "a"}
    long = {"role": "user", "content": [1, *[GOOD] * 3000]}
    with pytest.raises(InvalidField, match="The body must be"):
        QUESTIONS.check({"model": "m", "messages": [*[good] * 2500, long]})

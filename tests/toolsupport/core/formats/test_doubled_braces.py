"""Doubled braces around one object are read; around more than that, no part of it may run as the whole."""

from __future__ import annotations

import pytest

from toolsupport.core.json_repair import read_json

SECOND = "removed a second pair of braces"


@pytest.mark.parametrize("text", ['{{"a": 1}}', '{{"a": 1}', '{ {"a": 1} }'])
def test_one_object_is_read(text: str) -> None:
    read = read_json(text)
    assert read is not None
    assert (read.value, read.repairs) == ({"a": 1}, (SECOND,))


@pytest.mark.parametrize(
    "text", ['{{"a": 1}, "b": 2}', '{{"a": 1},{"a": 2}}', '{{"a": 1} {"a": 2}}', '{"c": {{"a": 1}, 2}}']
)
def test_more_than_one_object_is_not_cut(text: str) -> None:
    assert read_json(text) is None

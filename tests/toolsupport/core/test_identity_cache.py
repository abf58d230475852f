"""The result for an object is found again for that object only."""

from __future__ import annotations

import pytest

from toolsupport.core import completed_tools
from toolsupport.core.identity_cache import IdentityCache
from toolsupport.core.types import ToolSpec


def test_equal_objects_are_different_ones_and_the_oldest_are_forgotten() -> None:
    made: list[str] = []

    def make(given: list[str]) -> str:
        made.append(given[0])
        return given[0].upper()

    cache = IdentityCache(make, most=2)
    one, equal, third = ["a"], ["a"], ["b"]
    assert [cache.of(each) for each in (one, one, equal)] == ["A", "A", "A"]
    assert made == ["a", "a"]
    assert cache.of(third) == "B" and cache.of(one) == "A"
    assert made == ["a", "a", "b", "a"]


def test_nothing_is_kept_of_an_error() -> None:
    cache: IdentityCache[list[int], int] = IdentityCache(lambda given: given[0], most=2)
    given: list[int] = []
    with pytest.raises(IndexError):
        cache.of(given)
    given.append(3)
    assert cache.of(given) == 3


def test_an_object_that_took_the_place_of_another_in_memory_is_another() -> None:
    cache: IdentityCache[list[int], int] = IdentityCache(lambda given: given[0], most=1000)
    for number in range(500):
        assert cache.of([number]) == number


def test_tools_are_completed_once() -> None:
    tools = (ToolSpec("a", "b", {"properties": {"x": {"type": "string"}}}),)
    (whole,) = completed_tools.of(tools)
    assert whole.parameters == {"type": "object", "properties": {"x": {"type": "string"}}, "required": []}
    assert completed_tools.of(tools)[0] is whole

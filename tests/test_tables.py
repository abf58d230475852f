"""A table run as one test fails where any of its rows does, and names each."""

from __future__ import annotations

import asyncio

import pytest

from tests.tables import every


@every("number, square", [(1, 1), (2, 4), (-3, 9)])
def test_rows_are_run(number: int, square: int) -> None:
    assert number**2 == square


def test_all_failing_rows_are_reported() -> None:
    ran = []

    @every("number", [1, 2, 3, 4])
    def even(number: int) -> None:
        ran.append(number)
        assert number % 2 == 0

    with pytest.raises(ExceptionGroup, match="2 of 4 rows failed") as caught:
        even()
    assert ran == [1, 2, 3, 4]
    assert [error.__notes__ for error in caught.value.exceptions] == [["row: {'number': 1}"], ["row: {'number': 3}"]]


@pytest.mark.asyncio
@every(("number", "square"), [(1, 1), (2, 4)])
async def test_rows_of_coroutines_are_run(number: int, square: int) -> None:
    await asyncio.sleep(0)
    assert number**2 == square


@pytest.mark.asyncio
async def test_failing_rows_of_coroutines_and_of_two_tables_are_reported() -> None:
    ran = []

    @every("left", [1, 2])
    @every("right", [1, 2])
    async def different(left: int, right: int) -> None:
        ran.append((left, right))
        assert left != right

    with pytest.raises(ExceptionGroup, match="2 of 2 rows failed") as caught:
        await different()
    assert ran == [(1, 1), (1, 2), (2, 1), (2, 2)]
    inner = [error for group in caught.value.exceptions for error in getattr(group, "exceptions", ())]
    assert [error.__notes__ for error in inner] == [["row: {'right': 1}"], ["row: {'right': 2}"]]


def test_a_table_without_rows_is_a_mistake() -> None:
    with pytest.raises(AssertionError, match="no rows"):
        every("number", [])

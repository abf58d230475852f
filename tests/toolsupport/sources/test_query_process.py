"""A query has a process of its own: it ends in time, and returns nothing but its result."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from toolsupport.sources import query_process
from toolsupport.sources.types import DatabaseSource, SourceError

pytestmark = pytest.mark.asyncio

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"


@pytest.fixture
def source(tmp_path: Path) -> DatabaseSource:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (NULL), (1), (2.5), ('x'), (x'00ff')")
    return DatabaseSource("sqlite", str(tmp_path / "a.db"))


async def test_answers_come_back_as_they_are(source: DatabaseSource) -> None:
    answer = await query_process.query(source, "SELECT a FROM t")
    assert answer.rows == ((None,), (1,), (2.5,), ("x",), ("\\x00ff",)) and answer.columns == ("a",)
    assert [shape.name for shape in await query_process.shapes(source)] == ["t"]


async def test_an_endless_query_is_ended(source: DatabaseSource) -> None:  # T10
    with pytest.raises(SourceError, match="longer than 5 seconds"):
        await query_process.query(source, ENDLESS)


async def test_stopping_kills_the_process(source: DatabaseSource, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[asyncio.subprocess.Process] = []
    make = asyncio.create_subprocess_exec

    async def remembered(*words: str, **options: object) -> asyncio.subprocess.Process:
        begun.append(await make(*words, **options))  # type: ignore[arg-type]
        return begun[0]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", remembered)
    question = asyncio.ensure_future(query_process.query(source, ENDLESS))
    while not begun:
        await asyncio.sleep(0)
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    assert begun[0].returncode is not None


async def test_too_much_memory_ends_it(source: DatabaseSource) -> None:
    with pytest.raises(SourceError):
        await query_process.query(source, "SELECT hex(hex(hex(zeroblob(4000000))))")


async def test_what_the_process_is_told_is_not_in_its_environment(source: DatabaseSource) -> None:
    with pytest.raises(SourceError) as refused:
        await query_process.query(DatabaseSource("postgresql", "postgresql://u:secret@127.0.0.1:1/none"), "SELECT 1")
    assert "secret" not in str(refused.value)

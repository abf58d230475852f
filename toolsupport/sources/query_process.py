"""Runs a database query in a process of its own, which is killed on a timeout or cancellation."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from toolsupport.core.sentences import SENTENCES, sentence
from toolsupport.sources.types import SECONDS, Column, DatabaseSource, SourceError, Table, TableShape

ROOT = str(Path(__file__).resolve().parents[2])
PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from toolsupport.sources.worker import main; main()"
# To start, to connect, to hand over the answer.
GRACE = 5.0
MOST_BYTES = 16 * 1024 * 1024


async def query(source: DatabaseSource, text: str) -> Table:
    """Return the answer to one query. Raises SourceError."""
    answer = await ask(source, "run", text)
    return Table(tuple(answer["columns"]), tuple(map(tuple, answer["rows"])), answer["more"])


async def shapes(source: DatabaseSource) -> list[TableShape]:
    """Return the tables. Raises SourceError."""
    found = await ask(source, "look", "")
    return [
        TableShape(one["name"], tuple(Column(**column) for column in one["columns"]), one["comment"]) for one in found
    ]


async def ask(source: DatabaseSource, task: Literal["run", "look"], text: str) -> Any:
    """Return the answer of the process. Raises SourceError. A cancellation kills it."""
    asked = {"task": task, "kind": source.kind, "location": source.location, "forbidden": source.forbidden}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-c", PROGRAM, ROOT),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"LANG": "C.UTF-8"},
        cwd="/",
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(SECONDS + GRACE):
            written, _ = await process.communicate(json.dumps(asked | {"query": text}).encode())
    except TimeoutError:
        raise SourceError(sentence("query_too_long", seconds=SECONDS)) from None
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return _read(written)


def _read(written: bytes) -> Any:
    if not written or len(written) > MOST_BYTES:
        raise SourceError(sentence("query_too_large"))
    answer = json.loads(written)
    if "error" in answer:
        words = SENTENCES.read(answer["error"])
        took_long = "interrupted" in words or "statement timeout" in words
        raise SourceError(sentence("query_too_long", seconds=SECONDS) if took_long else words)
    return answer["answer"]

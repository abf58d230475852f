"""Only so many tools of a kind run at once; the others wait, with a notice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chat.tools.bash import TOOL as BASH
from chat.tools.execute_sql import TOOL as SQL
from chat.tools.files.workspace import Workspace
from chat.tools.python_execution import TOOL as PYTHON
from chat.tools.sandbox import concurrency, shell_process
from chat.tools.sandbox.concurrency import ConcurrencyLimiter
from chat.tools.sandbox.program_steps import ProgramResult
from chat.tools.tool import Tool, ToolContext
from toolsupport.core.errors import ConfigError, ToolError
from toolsupport.sources.types import Table

pytestmark = pytest.mark.asyncio
CONTEXT = ToolContext(Workspace(Path("/nowhere"), 10**6))


@pytest.fixture(autouse=True)
def two_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLSUPPORT_PROGRAMS", "2")


class Work:
    """What a tool does, which goes on until it is let go; `most` is how many of it ran at once."""

    def __init__(self) -> None:
        self.inside = self.most = self.done = 0
        self.full, self.go = asyncio.Event(), asyncio.Event()

    async def do(self, *_: Any) -> Any:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == 2:
            self.full.set()
        await self.go.wait()
        self.inside, self.done = self.inside - 1, self.done + 1
        return ProgramResult(None)

    async def ask(self, *_: Any) -> Table:
        await self.do()
        return Table(("a",), ((1,),), False)


async def test_who_comes_later_waits_and_says_so() -> None:
    said: list[str] = []
    context, work, gate = replace(CONTEXT, say=said.append), Work(), ConcurrencyLimiter("programs")

    async def enter() -> None:
        async with gate.entered(context):
            await work.do()

    tasks = [asyncio.create_task(enter()) for _ in range(5)]
    await work.full.wait()
    work.go.set()
    await asyncio.gather(*tasks)
    assert (work.most, work.done) == (2, 5)
    assert said == ["[Waiting until one of the other programs ends.]\n"] * 3


async def test_after_a_while_it_is_told_that_it_was_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "PATIENCE", 0.01)
    gate = ConcurrencyLimiter("programs")
    async with gate.entered(CONTEXT), gate.entered(CONTEXT):
        with pytest.raises(ToolError, match="too many programs ran at once"):
            async with gate.entered(CONTEXT):
                raise AssertionError("there is no room")
    async with gate.entered(CONTEXT):
        pass


async def test_whoever_is_stopped_while_waiting_takes_no_place() -> None:
    gate, waits = ConcurrencyLimiter("programs"), asyncio.Event()
    context = replace(CONTEXT, say=lambda _: waits.set())

    async def enter() -> None:
        async with gate.entered(context):
            raise AssertionError("there is no room")

    async with gate.entered(CONTEXT):
        async with gate.entered(CONTEXT):
            late = asyncio.create_task(enter())
            await waits.wait()
            late.cancel()
            with pytest.raises(asyncio.CancelledError):
                await late
        async with gate.entered(CONTEXT):
            pass


async def test_a_limit_below_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLSUPPORT_PROGRAMS", "0")
    with pytest.raises(ConfigError, match="use a whole number of 1 or more"):
        concurrency.most()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [(PYTHON, {"code": "1"}), (BASH, {"command": "true"}), (SQL, {"source": "s", "query": "SELECT 1"})],
)
async def test_each_kind_has_its_gate(tool: Tool, arguments: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work()
    monkeypatch.setattr("chat.tools.sandbox.python_interpreter.start", work.do)

    async def command(*_: Any) -> shell_process.CommandResult:
        await work.do()
        return shell_process.CommandResult("", 0, "", cut=False)

    monkeypatch.setattr(shell_process, "run", command)
    context = replace(CONTEXT, databases=work)  # type: ignore[arg-type]
    tasks = [asyncio.ensure_future(tool.run(context, arguments)) for _ in range(4)]
    await work.full.wait()
    work.go.set()
    await asyncio.gather(*tasks)
    assert (work.most, work.done) == (2, 4)

"""Whether a call runs, and what the model and the log get to read of it (C3, SAFETY 3)."""

from __future__ import annotations

import asyncio
import csv
import logging
import os
import threading
from collections.abc import Awaitable, Callable

import pytest

from chat.tools import policy
from chat.tools.files.workspace import FileContent
from chat.tools.tool import LEVELS, Tool, ToolContext
from tests.tables import every
from toolsupport.core.errors import NotFound, ToolError
from toolsupport.core.types import JSON, ToolCall, ToolResult, ToolSpec

pytestmark = pytest.mark.asyncio
Run = Callable[[ToolContext, JSON], Awaitable[ToolResult]]


def tools(run: Run, level: str = "A1", timeout: float = 30.0) -> dict[str, Tool]:
    return {"probe": Tool(ToolSpec("probe"), run, level, "Probed", timeout=timeout)}


def call(name: str = "probe", **arguments: object) -> ToolCall:
    return ToolCall("1", name, arguments)


async def answer(context: ToolContext, arguments: JSON) -> ToolResult:
    return ToolResult("answer")


async def never(context: ToolContext, arguments: JSON) -> ToolResult:
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


def raising(error: Exception) -> Run:
    async def run(context: ToolContext, arguments: JSON) -> ToolResult:
        raise error

    return run


async def test_a_real_tool_runs(context: ToolContext) -> None:
    context.workspace.write("config.json", [b'{"version": "2.4.1"}'])
    outcome = await policy.run(call("read_file", path="config.json"), context)
    assert (outcome.status, outcome.result) == ("done", ToolResult('{"version": "2.4.1"}'))
    assert 0 <= outcome.duration_ms < 10_000


@pytest.mark.parametrize("name", ["../../etc/passwd", "/proc/self/root/etc/passwd", "a\0b"])
async def test_a_path_that_leads_out_is_a_failed_call(context: ToolContext, name: str) -> None:
    outcome = await policy.run(call("read_file", path=name), context)
    assert (outcome.status, outcome.result.is_error) == ("failed", True)
    assert str(context.workspace.root) not in outcome.result.content


@pytest.mark.parametrize("level", [*LEVELS, "", "a1", "A5", "A1 "])
async def test_only_what_needs_no_permission_runs(context: ToolContext, level: str) -> None:
    outcome = await policy.run(call(), context, tools(answer, level))
    assert outcome.status == ("done" if level in ("A0", "A1") else "denied")
    assert outcome.result.is_error is (outcome.status == "denied")
    assert ("was not run" in outcome.result.content) is (outcome.status == "denied")


# T11
@every("tainted", [False, True])
@every(
    ("level", "clean", "after_others"),
    [
        ("A0", "run", "run"),
        ("A1", "run", "run"),
        ("A2", "run", "ask"),
        ("A3", "ask", "ask"),
        ("A4", "ask", "ask"),
        ("A5", "deny", "deny"),
    ],
)
async def test_a_permission_for_the_chat_never_covers_code(
    level: str, clean: str, after_others: str, tainted: bool
) -> None:
    tool = tools(answer, level)["probe"]
    expected = after_others if tainted else clean
    assert policy.verdict(tool, frozenset({"probe"}), tainted) == expected
    assert policy.grantable(tool, tainted) is (level == "A2" and not tainted)


async def test_a_tool_nobody_knows_does_not_run(context: ToolContext) -> None:
    outcome = await policy.run(call("web_serch"), context)
    assert (outcome.status, outcome.result.is_error) == ("denied", True)
    assert outcome.result.content == "web_serch was not run: there is no such tool."


@pytest.mark.parametrize("error", [ToolError("words for the model"), NotFound("words for the model")])
async def test_a_refusal_reaches_the_model_in_its_own_words(context: ToolContext, error: Exception) -> None:
    outcome = await policy.run(call(), context, tools(raising(error)))
    assert (outcome.status, outcome.result) == ("failed", ToolResult("words for the model", is_error=True))


@pytest.mark.parametrize(
    "error",
    [
        OSError(5, "broken", "/srv/secret"),
        TimeoutError("/srv/secret"),
        KeyError("/srv"),
        csv.Error("/srv"),
        RecursionError("/srv"),
        ExceptionGroup("/srv", [ValueError("/srv")]),
    ],
)
async def test_what_nobody_expected_is_told_to_the_log_without_its_content(
    context: ToolContext, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "chat.tools.policy"):
        outcome = await policy.run(call(key="sesame"), context, tools(raising(error)))
    assert outcome.status == "failed" and outcome.result.is_error
    assert "probe" in caplog.text and type(error).__name__ in caplog.text
    for hidden in ("/srv", "sesame"):
        assert hidden not in outcome.result.content + caplog.text


async def test_a_slow_tool_times_out(context: ToolContext) -> None:
    outcome = await policy.run(call(), context, tools(never, timeout=0.01))
    assert (outcome.status, outcome.result.is_error) == ("timeout", True)
    assert "longer than 0.01 seconds" in outcome.result.content
    assert outcome.duration_ms >= 9


async def test_a_cancellation_goes_through(context: ToolContext) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(policy.run(call(), context, tools(never)), 0.01)


async def test_an_error_result_of_a_tool_is_a_failed_call(context: ToolContext) -> None:
    async def run(context: ToolContext, arguments: JSON) -> ToolResult:
        return ToolResult("no", is_error=True)

    assert (await policy.run(call(), context, tools(run))).status == "failed"


async def test_a_result_is_bounded(context: ToolContext) -> None:
    async def run(context: ToolContext, arguments: JSON) -> ToolResult:
        return ToolResult("x" * 10_000_000)

    outcome = await policy.run(call(), context, tools(run))
    assert len(outcome.result.content) < context.text_bytes + 1000
    assert "of 10,000,000 characters" in outcome.result.content


async def test_a_file_that_was_cut_is_not_cut_twice(context: ToolContext) -> None:
    context.workspace.write("long", [b"x" * 1024] * 300)
    content = (await policy.run(call("read_file", path="long"), context)).result.content
    assert content.count("[Cut here") == 1


async def test_the_loop_goes_on_while_the_disk_is_slow(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The read waits for the loop: had it blocked the loop, neither would ever get on."""
    released, reading = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(*_: object) -> FileContent:
        loop.call_soon_threadsafe(reading.set)
        assert released.wait(10)
        return FileContent(b"read", 4)

    monkeypatch.setattr("chat.tools.read_file.beginning", slow)
    running = asyncio.ensure_future(policy.run(call("read_file", path="a"), context))
    await asyncio.wait_for(reading.wait(), 10)
    released.set()
    assert (await running).result.content == "read"


async def test_a_pipe_in_the_workspace_is_refused_at_once(context: ToolContext) -> None:
    context.workspace.write("a", [b""])
    os.mkfifo(context.workspace.root / "pipe")
    outcome = await asyncio.wait_for(policy.run(call("read_file", path="pipe"), context), 10)
    assert outcome.status == "failed" and "not a regular file" in outcome.result.content


@pytest.mark.parametrize("given", [None, "text", ToolResult(None), ToolResult("a", table=3)])  # type: ignore[arg-type]
async def test_a_result_of_the_wrong_kind_is_a_failed_call(context: ToolContext, given: ToolResult) -> None:
    async def run(context: ToolContext, arguments: JSON) -> ToolResult:
        return given

    outcome = await policy.run(call(), context, tools(run))
    assert (outcome.status, outcome.result.is_error) == ("failed", True)


async def test_a_result_can_be_stored_whatever_is_in_it(context: ToolContext) -> None:
    async def run(context: ToolContext, arguments: JSON) -> ToolResult:
        return ToolResult("a\0b\ud800", table="\0")

    outcome = await policy.run(call(), context, tools(run))
    assert (outcome.status, outcome.result) == ("done", ToolResult("a\ufffdb\ufffd", table="\ufffd"))

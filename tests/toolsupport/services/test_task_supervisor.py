"""Tasks that run beside requests: their errors are logged, their context is their own, they end together."""

from __future__ import annotations

import asyncio
import contextvars
import logging

import pytest

from toolsupport.core.errors import Lost
from toolsupport.services.task_supervisor import TaskSupervisor

OF_A_REQUEST: contextvars.ContextVar[str] = contextvars.ContextVar("OF_A_REQUEST", default="")


async def fails(error: Exception) -> None:
    raise error


@pytest.mark.asyncio
async def test_an_error_is_logged_with_its_owner(caplog: pytest.LogCaptureFixture) -> None:
    supervisor = TaskSupervisor("the chat", expected=(Lost,))
    with caplog.at_level(logging.ERROR):
        tasks = [supervisor.spawn(fails(error)) for error in (KeyError("row"), Lost("taken"))]
        await asyncio.wait(tasks)
        await asyncio.gather(supervisor.spawn(asyncio.sleep(0)))
    [line] = caplog.records
    assert line.getMessage() == "task of the chat failed"
    assert line.exc_info is not None and isinstance(line.exc_info[1], KeyError)


@pytest.mark.asyncio
async def test_nothing_of_a_request_reaches_a_task() -> None:
    OF_A_REQUEST.set("handle")

    async def seen() -> str:
        return OF_A_REQUEST.get()

    assert await TaskSupervisor("tests").spawn(seen()) == ""


@pytest.mark.asyncio
async def test_stopping_ends_all_but_the_task_that_stops() -> None:
    supervisor, ended = TaskSupervisor("tests"), []

    async def waits(number: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    async def stops() -> str:
        await supervisor.stop()
        return "over"

    waiting = [supervisor.spawn(waits(number)) for number in range(3)]
    await asyncio.sleep(0)
    assert await supervisor.spawn(stops()) == "over"
    assert sorted(ended) == [0, 1, 2] and all(task.cancelled() for task in waiting)

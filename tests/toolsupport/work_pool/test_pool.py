"""Work runs in processes that are bounded, killed, replaced and gone with their parent."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolsupport.work_pool import pool as pool_module
from toolsupport.work_pool.pool import WorkPool
from toolsupport.work_pool.types import OverBudget, Task, WorkFailed, WorkRefused, WorkTimedOut

HERE = "tests.toolsupport.work_pool.tasks"
MIB = 1024 * 1024


def task(name: str, cpu: float = 1.0, wall: float = 10.0) -> Task:
    return Task(f"{HERE}:{name}", cpu, wall)


@pytest.fixture
def pool() -> Iterator[WorkPool]:
    made = WorkPool(2)
    yield made
    made.close()


def ended(handle: int, seconds: float = 5.0) -> bool:
    """Whether the process of this descriptor ends within some seconds."""
    return bool(select.select([handle], [], [], seconds)[0])


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe that a task reads: it runs until the test opens the other end."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_worker_is_small_and_has_nothing_of_the_server(pool: WorkPool) -> None:
    about = pool.run_blocking("ana", task("about"))
    assert about["pid"] != os.getpid()
    assert not about["django"]
    assert about["environment"] == ["LANG", "LC_CTYPE"] or about["environment"] == ["LANG"]
    assert about["resident"] < 40 * MIB


def test_a_worker_is_used_again_and_every_text_comes_back(pool: WorkPool) -> None:
    texts = ["", "ä\u2028\x00\n", "\ud800", "x" * 300_000, [1, None, {"a": True}]]
    pids = {pool.run_blocking("ana", task("about"))["pid"]}
    assert [pool.run_blocking("ana", task("echo"), text) for text in texts] == [[text] for text in texts]
    assert pids == {pool.run_blocking("ana", task("about"))["pid"]}


@pytest.mark.parametrize("name", ["spin", "spin_in_a_pattern", "swallow"])
def test_work_ends_with_its_processor_time_and_the_next_one_runs(pool: WorkPool, name: str) -> None:
    with pytest.raises(OverBudget, match="processor time"):
        pool.run_blocking("mallory", task(name, cpu=0.05))
    assert pool.run_blocking("mallory", task("echo"), "next") == ["next"]


def test_work_that_cannot_be_interrupted_is_killed(pool: WorkPool) -> None:
    with pytest.raises(OverBudget):
        pool.run_blocking("mallory", task("about"))["pid"]
        pool.run_blocking("mallory", task("spin_outside_python", cpu=0.05, wall=1.0))
    assert pool.run_blocking("mallory", task("echo"), 1) == [1]


def test_work_that_got_no_processor_is_not_called_costly(pool: WorkPool, pipe: Path) -> None:
    pool.run_blocking("ana", task("about"))
    with pytest.raises(WorkTimedOut):
        pool.run_blocking("ana", task("hold", wall=0.2), str(pipe))
    assert pool.run_blocking("ana", task("echo"), 1) == [1]


def test_a_part_may_have_a_budget_of_its_own(pool: WorkPool) -> None:
    assert pool.run_blocking("ana", task("inner_budget")) == ["interrupted", "done"]


def test_work_without_end_of_memory_is_stopped(pool: WorkPool) -> None:
    with pytest.raises(OverBudget, match="memory"):
        pool.run_blocking("mallory", task("remember"))


def test_a_worker_that_grew_is_replaced(pool: WorkPool) -> None:
    before = pool.run_blocking("ana", task("about"))["pid"]
    assert pool.run_blocking("ana", task("grow")) is True
    after = pool.run_blocking("ana", task("about"))
    assert after["pid"] != before
    assert after["resident"] < 40 * MIB


def test_an_error_names_its_place_and_never_the_text(pool: WorkPool, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(WorkFailed) as failed:
        pool.run_blocking("ana", task("fail"), "a secret")
    assert "ValueError at tests.toolsupport.work_pool.tasks:" in str(failed.value)
    assert "a secret" not in str(failed.value) + caplog.text


def test_a_worker_that_dies_is_replaced(pool: WorkPool) -> None:
    with pytest.raises(OverBudget):
        pool.run_blocking("ana", task("end"))
    pid = pool.run_blocking("ana", task("about"))["pid"]
    handle = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    assert ended(handle)
    os.close(handle)
    assert pool.run_blocking("ana", task("about"))["pid"] != pid


def test_a_worker_that_dies_right_after_its_answer_leaves_no_socket(pool: WorkPool, pipe: Path) -> None:
    job, threads = pool.submit("ana", task("hold"), str(pipe)), list[threading.Thread]()

    def killed(_: Any) -> None:  # in the thread of the process, before it looks whether the process still runs
        threads.append(threading.current_thread())
        assert job.process
        handle = os.pidfd_open(job.process.pid)
        os.kill(job.process.pid, signal.SIGKILL)
        assert ended(handle)
        os.close(handle)

    job.result.add_done_callback(killed)
    pipe.open("w").close()
    job.result.result()
    pool.close()
    threads[0].join()
    assert job.process and job.process._socket.fileno() == -1


@pytest.mark.asyncio
async def test_a_cancelled_caller_ends_its_work(pool: WorkPool, pipe: Path) -> None:  # as Stop does
    waiting = asyncio.create_task(pool.run("ana", task("hold"), str(pipe)))
    behind = asyncio.create_task(pool.run("ana", task("echo"), "behind"))
    begun = await asyncio.to_thread(pipe.open, "w")
    handle = os.pidfd_open(pool.pids()[0])
    waiting.cancel()
    assert await behind == ["behind"]
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended(handle)
    os.close(handle)
    begun.close()


def test_one_person_does_not_hold_up_another(pool: WorkPool, pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "STUCK", 0.5)
    held = [pool.submit("mallory", task("hold"), str(pipe)) for _ in range(16)]
    assert pool.run_blocking("bob", task("echo"), "soon") == ["soon"]
    with pytest.raises(WorkRefused):
        for _ in range(17):
            pool.submit("mallory", task("echo"))
    assert not any(job.result.done() for job in held)
    assert len(pool.pids()) == 1


@pytest.mark.asyncio
async def test_short_tasks_of_many_people_take_one_process(pool: WorkPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "LONG", 60.0)
    found = await asyncio.gather(*(pool.run(f"person {number}", task("about")) for number in range(40)))
    assert len({about["pid"] for about in found}) == 1


@pytest.mark.asyncio
async def test_a_long_task_does_not_hold_up_the_others(
    pool: WorkPool, pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "LONG", 0.01)
    monkeypatch.setattr(pool_module, "STUCK", 0.01)  # the task only waits
    monkeypatch.setattr(pool_module, "STARTING", 0.0)
    held = asyncio.create_task(pool.run("mallory", task("hold", wall=120.0), str(pipe)))
    begun = await asyncio.to_thread(pipe.open, "w")
    assert await pool.run("bob", task("echo"), "soon") == ["soon"]
    assert await asyncio.to_thread(pool.run_blocking, "ana", task("echo"), "soon") == ["soon"]
    assert not held.done()
    begun.close()
    assert await held == ""


# O5
def test_a_task_that_gets_no_processor_starts_no_further_process(
    pool: WorkPool, pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "LONG", 0.0)
    monkeypatch.setattr(pool_module, "STARTING", 0.0)
    held = pool.submit("mallory", task("hold"), str(pipe))
    with pipe.open("w"):
        waiting = pool.submit("bob", task("echo"), "later")
        pool._help(waiting)
        assert not held.is_long() and pool._threads == 1
    assert waiting.result.result(10) == ["later"]
    spinning = pool.submit("mallory", task("spin", cpu=5.0))
    ends = time.monotonic() + 10
    while not spinning.is_long():
        assert time.monotonic() < ends
    waiting = pool.submit("bob", task("echo"), "soon")
    pool._help(waiting)
    assert waiting.result.result(10) == ["soon"] and not spinning.result.done()


def test_close_ends_all_work(pool: WorkPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "LONG", 0.0)
    monkeypatch.setattr(pool_module, "STUCK", 0.0)
    monkeypatch.setattr(pool_module, "STARTING", 0.0)
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        os.mkfifo(path)
    jobs = [pool.submit(path.name, task("hold"), str(path)) for path in paths]
    begun = [paths[0].open("w")]
    pool._help(jobs[1])
    begun.append(paths[1].open("w"))
    handles = [os.pidfd_open(pid) for pid in pool.pids()]
    pool.close()
    for handle in handles:
        assert ended(handle)
        os.close(handle)
    assert all(isinstance(job.result.exception(), OverBudget) for job in jobs[:2])
    assert jobs[2].result.cancelled()
    for file in begun:
        file.close()
    with pytest.raises(WorkRefused):
        pool.submit("a", task("echo"))


def test_processes_and_threads_end_when_there_is_no_work() -> None:
    pool = WorkPool(2, idle=0.05)
    handle = os.pidfd_open(pool.run_blocking("ana", task("about"))["pid"])
    assert ended(handle)
    os.close(handle)
    assert pool.run_blocking("ana", task("echo"), 1) == [1]
    pool.close()


PARENT = f"""
import sys, time
from toolsupport.work_pool.pool import work_pool
from toolsupport.work_pool.types import Task
pool = work_pool()
print(pool.run_blocking("ana", Task("{HERE}:about", 1.0))["pid"], flush=True)
pool.submit("ana", Task("{HERE}:%s", 1.0), *%r)
while not pool.pids():
    time.sleep(0.001)
print("busy", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(("end", "work"), [("kill", ("hold",)), ("kill", ("spin",)), ("exit", ("hold",))])
def test_nothing_remains_of_a_server_that_ends(end: str, work: tuple[str, ...], pipe: Path) -> None:
    given: tuple[Any, ...] = (str(pipe),) if work == ("hold",) else ()
    program = PARENT % (work[0], given)
    parent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdin is not None and parent.stdout is not None
    with parent:
        handle = os.pidfd_open(int(parent.stdout.readline()))
        assert parent.stdout.readline() == "busy\n"
        if end == "kill":
            parent.kill()
        else:
            parent.stdin.close()
        assert ended(handle)
        os.close(handle)

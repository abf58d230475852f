"""Runs Python in a sandbox, one step at a time: a step ends with the program, or at a call of a tool.

Each step runs in a process of its own that ends with it. Its saved state can be continued anywhere.
"""

from __future__ import annotations

import asyncio
import atexit
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any, Protocol, cast

from pydantic_monty import (
    AsyncFunctionSnapshot,
    AsyncFutureSnapshot,
    AsyncMonty,
    AsyncMontySession,
    AsyncNameLookupSnapshot,
    AsyncSnapshot,
    Monty,
    MontyComplete,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    ResourceLimits,
)

from chat.tools.sandbox.program_steps import (
    FunctionCall,
    FunctionResult,
    PrintedOutput,
    ProgramError,
    ProgramResult,
    PythonLimits,
    StepResult,
)
from toolsupport.core import sanitize

RECURSION = 400
UNUSED = PythonLimits()  # the limits of a program that has not run yet
LONGEST_ERROR = 20_000
MOST_NAMES = 40
# Seconds after a step in which an ending interpreter would abort.
QUIET = 0.2
# The sandbox stops a program on its own; its process is ended from outside where that takes longer than this.
GRACE = 2.0
START = 10.0  # seconds in which a process of the self-test has to answer, on a machine that is busy with its own start
NO_FILES = "there are no files and no system here, only the functions of the tools"


class InterpreterStep(Protocol):
    """Starts or continues in a session of the sandbox."""

    async def __call__(self, session: AsyncMontySession, printed: PrintedOutput) -> AsyncSnapshot: ...


async def start(
    code: str, functions: Collection[str], printed: PrintedOutput, limits: PythonLimits = UNUSED
) -> StepResult:
    """Run a program whose `functions` are defined outside, to its first step."""

    async def begin(session: AsyncMontySession, printed: PrintedOutput) -> AsyncSnapshot:
        return await session.feed_start(code, print_callback=printed.take)

    return await _step(begin, functions, printed, limits)


async def go_on(
    state: bytes, answer: FunctionResult, functions: Collection[str], run: tuple[PrintedOutput, PythonLimits]
) -> StepResult:
    """Return the next step of a program that called a function, in any process."""

    async def resume(session: AsyncMontySession, printed: PrintedOutput) -> AsyncSnapshot:
        paused = await session.load_snapshot(state, print_callback=printed.take)
        assert isinstance(paused, AsyncFunctionSnapshot)
        return await _answered(paused, answer)

    return await _step(resume, functions, *run)


def _given(answer: FunctionResult) -> Any:
    """Return a result in the sandbox's form."""
    if answer.error:
        return {"exc_type": answer.error, "message": str(answer.value)}
    return {"return_value": answer.value}


def _resources(limits: PythonLimits) -> ResourceLimits:
    return ResourceLimits(
        max_feed_duration_secs=limits.seconds, max_memory=limits.memory, max_recursion_depth=RECURSION
    )


async def _answered(paused: AsyncFunctionSnapshot, answer: FunctionResult) -> AsyncSnapshot:
    """Answer a call; for a program with `await` the sandbox needs the answer in two moves."""
    if not paused.allow_eager_await:
        return await paused.resume(_given(answer))
    promised = await paused.resume({"future": ...})
    if not isinstance(promised, AsyncFutureSnapshot):
        return promised
    return await promised.resume(dict.fromkeys(promised.pending_call_ids, _given(answer)))


_ended = -QUIET


@atexit.register
def _let_go() -> None:
    """Wait at the end of this process: the sandbox's threads release Python's objects only after a step is over."""
    time.sleep(max(0.0, _ended + QUIET - time.monotonic()))


async def _step(
    advance: InterpreterStep, functions: Collection[str], printed: PrintedOutput, limits: PythonLimits
) -> StepResult:
    try:
        async with _session(limits) as session:
            began = time.monotonic()  # from here: a busy machine may need seconds to start the process
            snapshot = await advance(session, printed)
            while not isinstance(snapshot, MontyComplete):
                if isinstance(snapshot, AsyncFunctionSnapshot) and snapshot.function_name in functions:
                    seconds = time.monotonic() - began
                    name = str(snapshot.function_name)
                    return FunctionCall(name, snapshot.args, snapshot.kwargs, snapshot.dump(), seconds)
                snapshot = await _without_tools(snapshot, functions)
            return ProgramResult(snapshot.output)
    except MontyError as error:
        return ProgramError(_in_words(error))
    finally:
        global _ended
        _ended = time.monotonic()


@asynccontextmanager
async def _session(limits: PythonLimits) -> AsyncIterator[AsyncMontySession]:
    """Start a process for one step; cancellation ends it too."""
    wall = limits.seconds + GRACE
    async with (
        _started(AsyncMonty(min_processes=1, max_processes=1, request_timeout=wall)) as pool,
        pool.checkout(limits=_resources(limits), os_policy={"sleep": "zero"}) as session,
    ):
        yield session


@asynccontextmanager
async def _started(pool: AsyncMonty) -> AsyncIterator[AsyncMonty]:
    """Enter a pool as a whole: a start that was cancelled half-way would leave its processes running."""
    starting = cast(asyncio.Future[AsyncMonty], pool.__aenter__())
    try:
        await asyncio.shield(starting)
        yield pool
    finally:
        await asyncio.wait([starting])
        await pool.__aexit__()


async def _without_tools(snapshot: AsyncSnapshot, functions: Collection[str]) -> AsyncSnapshot:
    """Answer a program's requests to the outside other than its functions."""
    if isinstance(snapshot, AsyncNameLookupSnapshot):
        return await _name(snapshot, functions)
    assert isinstance(snapshot, AsyncFunctionSnapshot)
    name = str(snapshot.function_name)
    if name == "import":
        return await snapshot.resume_not_handled()
    if snapshot.is_os_function:
        return await snapshot.resume({"exc_type": "PermissionError", "message": f"{name}: {NO_FILES}"})
    known = ", ".join(sorted(functions)[:MOST_NAMES]) or "none"
    words = f"name '{name}' is not defined. The functions of tools here are: {known}."
    return await snapshot.resume({"exc_type": "NameError", "message": words})


async def _name(snapshot: AsyncNameLookupSnapshot, functions: Collection[str]) -> AsyncSnapshot:
    """Return a function that is named without being called."""
    if snapshot.variable_name not in functions:
        return await snapshot.resume()

    def stub() -> None:
        """Never called: the sandbox asks again with the arguments."""

    stub.__name__ = snapshot.variable_name
    return await snapshot.resume(value=stub)


def _in_words(error: MontyError) -> str:
    text = error.display() if isinstance(error, MontySyntaxError | MontyRuntimeError) else str(error)
    return sanitize.text(
        text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}\n[The rest of the error was cut.]"
    )


def self_test() -> str:
    """Return why programs cannot run on this machine, "" if one starts, computes, and is stopped at its limit."""
    try:
        with Monty(max_processes=1, request_timeout=START) as pool:
            if not _computes(pool):
                return "The sandbox for Python does not compute."
            return "" if _stops(pool) else "The sandbox for Python does not stop a loop."
    except Exception as error:  # any error that prevents the start of its process
        return f"The sandbox for Python does not start ({type(error).__name__})."


def _computes(pool: Monty) -> bool:
    with pool.checkout() as session:
        return bool(session.feed_run("6 * 7") == 42)


def _stops(pool: Monty) -> bool:
    with pool.checkout(limits=_resources(PythonLimits(0.05))) as session:
        try:
            session.feed_run("while True: pass")
        except MontyRuntimeError:
            return True
    return False

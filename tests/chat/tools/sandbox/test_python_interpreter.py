"""The sandbox of programs: their abilities, their limits, and that nothing escapes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from chat.tools.sandbox import python_interpreter
from chat.tools.sandbox.program_steps import (
    FunctionCall,
    FunctionResult,
    PrintedOutput,
    ProgramError,
    ProgramResult,
    PythonLimits,
    StepResult,
)

pytestmark = pytest.mark.asyncio
SHORT = PythonLimits(seconds=0.3, memory=64 * 2**20)


def printed(most: int = 10_000) -> PrintedOutput:
    return PrintedOutput(most, lambda text: None)


async def ran(code: str, answers: Sequence[FunctionResult] = (), into: PrintedOutput | None = None) -> StepResult:
    """A program with the functions `look` and `tell`, each call of which gets the next answer."""
    functions, into = ("look", "tell"), into or printed()
    step = await python_interpreter.start(code, functions, into, SHORT)
    for answer in answers:
        assert isinstance(step, FunctionCall), step
        step = await python_interpreter.go_on(step.state, answer, functions, (into, SHORT))
    return step


# T3
@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("6 * 7", 42),
        ("x = 1", None),
        ("import json\njson.loads('[1, 2]')", [1, 2]),
        ("def f(*, a=1, **rest): return {'a': a, **rest}\nf(b=2)", {"a": 1, "b": 2}),
        ("class A:\n  def __init__(self): self.x = 3\nA().x", 3),
        ("import csv\n[row['b'] for row in csv.DictReader(['a,b', '1,2'])]", ["2"]),
        ("try:\n  1 / 0\nexcept ZeroDivisionError as e:\n  str(e)\n'after'", "after"),
        ("import time\ntime.sleep(3600)\n'awake'", "awake"),
    ],
)
async def test_python_works(code: str, value: object) -> None:
    assert await ran(code) == ProgramResult(value)


async def test_what_is_printed_is_told_at_once_and_kept() -> None:
    said: list[str] = []
    into = PrintedOutput(100, said.append)
    await python_interpreter.start("print('one')\nprint('two', 3)", (), into)
    assert into.text == "".join(said) == "one\ntwo 3\n" and not into.more


# T9
@pytest.mark.parametrize(
    "code", ["look(1, b=2)", "f = look\nf(1, b=2)", "await look(1, b=2)", "[look(x, b=2) for x in [1]][0]"]
)
async def test_a_call_pauses_and_goes_on_with_its_answer(code: str) -> None:
    step = await ran(code)
    assert isinstance(step, FunctionCall)
    assert (step.name, step.args, step.named) == ("look", (1,), {"b": 2})
    assert await ran(code, [FunctionResult("seen")]) == ProgramResult("seen")


async def test_an_answer_may_be_an_exception_that_the_program_catches() -> None:
    code = "try:\n  look()\nexcept PermissionError as e:\n  words = str(e)\nwords"
    assert await ran(code, [FunctionResult("not today", "PermissionError")]) == ProgramResult("not today")
    broke = await ran("look()", [FunctionResult("not today", "PermissionError")])
    assert isinstance(broke, ProgramError) and broke.error.endswith("PermissionError: not today")
    assert "line 1, in <module>\n    look()" in broke.error


async def test_what_was_there_before_a_pause_is_there_after_it() -> None:
    into, code = printed(), "x = [1]\nprint('a')\nx.append(look())\nprint('b')\nx.append(tell())\nx"
    assert await ran(code, [FunctionResult(2), FunctionResult({"c": 3})], into) == ProgramResult([1, 2, {"c": 3}])
    assert into.text == "a\nb\n"


HOSTILE = {
    "loop": "while True: pass",
    "stubborn loop": "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "recursion": "def f(): return f()\nf()",
    "caught recursion": "def f():\n  try: f()\n  except RecursionError: f()\nf()",
    "memory": "x = []\nwhile True: x.append('x' * 1000)",
    "list": "[0] * 10**9",
    "text": "'x' * 10**10",
    "bytes": "b'x' * 10**10",
    "joined text": "'x'.join(['y' * 10**6] * 10**4)",
    "padded text": "'x'.ljust(10**10)",
    "formatted text": "f'{1:>10000000000}'",
    "huge number": "10 ** 10 ** 9",
    "shifted number": "1 << 10**11",
    "digits": "str(10 ** 10 ** 6)",
    "doubled list": "x = [1]\nwhile True: x += x",
    "doubled text": "x = 'x'\nwhile True: x += x",
    "nested brackets": "(" * 100_000 + ")" * 100_000,
    "nested calls": "len(" * 50_000 + ")" * 50_000,
    "long sum": "+".join(["1"] * 200_000) + "+",
    "flood": "while True: print('x' * 1000)",
    "files": "open('/etc/passwd').read()",
    "listing": "import os\nos.listdir('/')",
    "environment": "import os\nos.environ['HOME']",
    "path": "from pathlib import Path\nPath('/etc/passwd').read_text()",
    "process": "import subprocess",
    "socket": "import socket",
    "foreign code": "import ctypes",
    "own code": "import chat",
    "import by name": "__import__('os').system('id')",
    "class": "().__class__.__bases__[0].__subclasses__()",
    "class by getattr": "getattr((), '__cla' + 'ss__')",
    "class by format": "'{0.__class__}'.format(1)",
    "class by f-string": "f'{(1).__class__.__mro__}'",
    "globals": "look.__globals__",
    "code": "(lambda: 1).__code__",
    "frame": "import sys\nsys._getframe()",
    "evaluated": "eval('open(\"/etc/passwd\")')",
    "executed": "exec('import socket')",
    "exit": "raise SystemExit",
    "interrupt": "raise KeyboardInterrupt",
    "suspensions": "while True:\n  try: open('x')\n  except PermissionError: pass",
    "huge error": "raise ValueError('x' * 10_000_000)",
    "gathered": "import asyncio\nawait asyncio.gather(nothing(), nothing())",
    "inheritance": "class A: pass\nclass B(A): pass",
    "generator": "def f():\n  yield 1",
    "deletion": "x = 1\ndel x",
    "syntax": "x = = 1",
    "nul": "print('a')\0",
}


# SAFETY 3.2
@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE)
async def test_what_a_program_may_not_do_ends_it_with_words(code: str) -> None:
    into = printed(1000)
    async with asyncio.timeout(20):
        step = await ran(code, into=into)
    assert isinstance(step, ProgramError), step
    assert 0 < len(step.error) < 21_000 and "root:" not in step.error
    assert len(into.text) <= 1000


async def test_a_flood_is_cut_and_says_so() -> None:
    into = printed(1000)
    assert await ran("for i in range(5000): print(i)", into=into) == ProgramResult(None)
    assert len(into.text) == 1000 and into.more


async def test_a_name_that_is_no_function_here_says_which_are() -> None:
    broke = await ran("bash('ls')")
    assert isinstance(broke, ProgramError) and "The functions of tools here are: look, tell." in broke.error


def workers() -> set[str]:
    """The processes of the sandbox that this process began."""
    found = set[str]()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        except OSError:  # it ended while it was being looked at
            continue
        if lines["PPid"] == str(os.getpid()) and lines["Name"].startswith("monty"):
            found.add(lines["Pid"])
    return found


# C5
async def test_a_program_that_is_stopped_leaves_no_process() -> None:
    before, said = workers(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def say(text: str) -> None:
        loop.call_soon_threadsafe(said.set)

    into = PrintedOutput(100, say)
    endless = python_interpreter.start("print('begun')\nwhile True: pass", (), into, PythonLimits(60))
    task = asyncio.create_task(endless)
    async with asyncio.timeout(10):
        await said.wait()
    assert workers() - before
    task.cancel()
    async with asyncio.timeout(2):
        await asyncio.gather(task, return_exceptions=True)
        while workers() - before:
            await asyncio.sleep(0)
    assert task.cancelled()


async def test_the_start_of_its_process_is_no_time_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer for it than a program has."""
    started, now = python_interpreter._session, [0.0]

    @asynccontextmanager
    async def slow(limits: PythonLimits) -> AsyncIterator[object]:
        async with started(limits) as session:
            now[0] += 60
            yield session

    monkeypatch.setattr(python_interpreter, "_session", slow)
    monkeypatch.setattr(python_interpreter, "time", SimpleNamespace(monotonic=lambda: now[0]))
    step = await ran("look('a')")
    assert isinstance(step, FunctionCall) and step.seconds == 0


async def test_many_programs_at_once_do_not_meet() -> None:
    steps = await asyncio.gather(*(python_interpreter.start(f"x = {n}\nx * 2", (), printed()) for n in range(20)))
    assert steps == [ProgramResult(n * 2) for n in range(20)]


async def test_the_sandbox_tests_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert python_interpreter.self_test() == ""
    monkeypatch.setattr(python_interpreter, "_stops", lambda pool: False)
    assert "does not stop a loop" in python_interpreter.self_test()
    monkeypatch.setattr(python_interpreter, "_computes", lambda pool: False)
    assert "does not compute" in python_interpreter.self_test()
    monkeypatch.setenv("MONTY_BIN", "/nowhere/monty")
    assert "does not start" in python_interpreter.self_test()

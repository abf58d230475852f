"""The hard rules of the house for Python files, each shown to catch a planted sin."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from statistics import median

import pytest

from tests import house
from tests.house import Source
from tests.tables import every

FILE_LINES, FUNCTION_LINES, PARAMETERS, COMPLEXITY, VIEW_LINES = 400, 40, 4, 8, 15

# Words that name a drawer instead of a purpose.
DRAWERS = {"utils", "util", "helpers", "helper", "misc", "common", "manager", "managers", "base", "baseclasses"}
# Django looks for a database backend under this name.
PRESCRIBED = {"toolsupport/config/postgresql/base.py", "toolsupport/config/sqlite/base.py"}

# What a pure module may not even import: clocks, chance, sockets, processes, frameworks.
IMPURE = {"asyncio", "socket", "time", "random", "secrets", "uuid", "subprocess", "threading", "logging", "os"}
IMPURE |= {"django", "channels", "asgiref", "httpx", "aiohttp", "urllib.request", "http.client"}
CLOCKS = {"now", "utcnow", "today", "monotonic", "perf_counter"}

TASK_MAKERS = {"create_task", "ensure_future", "TaskGroup", "run_coroutine_threadsafe"}
MAY_MAKE_TASKS = ("toolsupport/services/task_supervisor.py", "toolsupport/simulator", "tests")

VIEWS = ("toolsupport/web/pages", "toolsupport/web/api", "toolsupport/gateway", "chat/pages")
VERBS = {"require_GET", "require_POST", "require_safe", "require_http_methods"}
PERMITS = {"requires", "public"}

MARKS = re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b|#[ ]type: ignore(?!\[)|#[ ]noqa(?!: ?[A-Z])")
ASSERTIONS = re.compile(r"assert|^(?:check|expect|must|raises|warns|fail$|deprecated_call|prove)")

# All that is kept at the top of the repository.
TOP = {
    "chat",
    "docs",
    "static",
    "templates",
    "tests",
    "toolsupport",
    "manage.py",
    "pyproject.toml",
    "requirements.lock",
}
TOP |= {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", ".ci", ".gitattributes", ".gitignore"}

Rule = Callable[[Source], Iterator[str]]


def long_file(source: Source) -> Iterator[str]:
    lines = source.text.count("\n")
    if lines > FILE_LINES:
        yield f"{source.path} has {lines} lines"


def long_function(source: Source) -> Iterator[str]:
    for node in source.functions:
        if house.length(node) > FUNCTION_LINES:
            yield source.at(node, f"{node.name} has {house.length(node)} lines")


def many_parameters(source: Source) -> Iterator[str]:
    """Tests are left out: a fixture that is asked for by name is no argument."""
    for node in source.functions:
        if house.parameters(node) > PARAMETERS and not source.within("tests"):
            yield source.at(node, f"{node.name} has {house.parameters(node)} parameters")


def tangled_function(source: Source) -> Iterator[str]:
    for node in source.functions:
        if house.complexity(node) > COMPLEXITY:
            yield source.at(node, f"{node.name} has complexity {house.complexity(node)}")


def unsaid_purpose(source: Source) -> Iterator[str]:
    if source.text.strip() and not house.first_sentence_alone(source.docstring):
        yield f"{source.path} does not begin with one sentence that says what it is for"


def drawer_name(source: Source) -> Iterator[str]:
    if DRAWERS & {*source.path.removesuffix(".py").split("/")} and source.path not in PRESCRIBED:
        yield f"{source.path} names a drawer, not a purpose"


def impure_core(source: Source) -> Iterator[str]:
    if not source.within("toolsupport/core"):
        return
    waits = ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith
    yield from (source.at(node, "waits") for node in house.nodes(source.tree) if isinstance(node, waits))
    yield from (source.at(call, f"reads {name}()") for call, name in house.calls(source.tree) if name in CLOCKS)
    for place, name in house.imports(source.tree):
        if any(f"{name}.".startswith(f"{outside}.") for outside in IMPURE):
            yield source.at(place, f"imports {name}")


def stray_task(source: Source) -> Iterator[str]:
    if source.within(*MAY_MAKE_TASKS):
        return
    for call, name in house.calls(source.tree):
        if name in TASK_MAKERS:
            yield source.at(call, f"makes a task by {name}()")


def deaf_waiting(source: Source) -> Iterator[str]:
    """In Python 3.11 a cancellation that comes together with the result is swallowed, and a loop goes on for ever."""
    for call, name in house.calls(source.tree):
        if name == "wait_for" and not source.within("tests"):
            yield source.at(call, "waits by wait_for(); write asyncio.timeout()")


def signal(source: Source) -> Iterator[str]:
    for place, name in house.imports(source.tree):
        if (name.startswith("django.") and ".signals" in name) or name.startswith("django.dispatch"):
            yield source.at(place, f"imports {name}")


def logic_in_save(source: Source) -> Iterator[str]:
    for node in house.nodes(source.tree):
        if isinstance(node, ast.ClassDef) and source.within("toolsupport/models", "chat/models.py"):
            own = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            yield from (source.at(part, f"{node.name}.{part.name}") for part in own if part.name in {"save", "delete"})


def long_view(source: Source) -> Iterator[str]:
    for node in views(source):
        if house.length(node) > VIEW_LINES:
            yield source.at(node, f"the view {node.name} has {house.length(node)} lines")


def undeclared_view(source: Source) -> Iterator[str]:
    for node in views(source):
        worn = house.decorators(node)
        if bool(worn & VERBS) != bool(worn & PERMITS):
            yield source.at(node, f"{node.name} needs both a verb and a permission")


def unfinished(source: Source) -> Iterator[str]:
    for number, line in enumerate(source.text.splitlines(), 1):
        if MARKS.search(line):
            yield f"{source.path}:{number} {line.strip()[:80]}"


def sleeping_test(source: Source) -> Iterator[str]:
    """A test waits for something that happens; time alone proves nothing."""
    if not source.within("tests") or source.within("tests/bench"):
        return
    for call, name in house.calls(source.tree):
        if name == "wait_for_timeout" or (name == "sleep" and ast.unparse(call.func) == "time.sleep"):
            yield source.at(call, f"sleeps by {name}()")


def toothless_test(source: Source) -> Iterator[str]:
    """A test that asserts nothing cannot fail for the reason it was written."""
    for node in source.functions:
        if source.within("tests") and node.name.startswith("test_") and not bites(node):
            yield source.at(node, f"{node.name} asserts nothing")


def bites(node: house.Function) -> bool:
    parts = list(ast.walk(node))
    return any(isinstance(part, ast.Assert) for part in parts) or any(
        ASSERTIONS.search(n) for _, n in house.calls(node)
    )


def views(source: Source) -> list[house.Function]:
    if not source.within(*VIEWS):
        return []
    top = [node for node in source.tree.body if isinstance(node, house.Function)]
    public = [node for node in top if not node.name.startswith("_")]
    return [node for node in public if node.args.args and node.args.args[0].arg == "request"]


# Each rule with a sin it must find: where the file would stand, and what it would say.
RULES: dict[Rule, tuple[str, str]] = {
    long_file: ("chat/x.py", "x = 1\n" * (FILE_LINES + 1)),
    long_function: ("chat/x.py", "def f():\n" + "    x = 1\n" * FUNCTION_LINES),
    many_parameters: ("chat/x.py", "class A:\n    def f(self, a, b, *, c, d, e): ..."),
    tangled_function: ("chat/x.py", "def f(x):\n" + "    if x: x = 1\n" * COMPLEXITY),
    unsaid_purpose: ("chat/x.py", '"""Reads rows. Writes rows."""'),
    drawer_name: ("chat/utils.py", ""),
    impure_core: ("toolsupport/core/x.py", "from datetime import datetime\nwhen = datetime.now()"),
    stray_task: ("chat/pages/chat.py", "import asyncio\nasyncio.create_task(work())"),
    deaf_waiting: ("chat/x.py", "import asyncio\nasync def f():\n    await asyncio.wait_for(done, 1)"),
    signal: ("chat/x.py", "from django.db.models.signals import post_save"),
    logic_in_save: ("chat/models.py", "class Turn(Model):\n    def save(self): ..."),
    long_view: ("chat/pages/chat.py", "def show(request):\n" + "    x = 1\n" * VIEW_LINES),
    undeclared_view: ("chat/pages/chat.py", "@require_GET\ndef show(request): ..."),
    unfinished: ("chat/x.py", "x = 1  # type: " + "ignore"),
    toothless_test: ("tests/test_x.py", "def test_it():\n    f()"),
    sleeping_test: ("tests/chat/test_x.py", "import time\ntime.sleep(1)"),
}


@cache
def tree() -> tuple[dict[Rule, list[str]], list[int], list[int]]:
    """What each rule finds, the lines of each file of the product and of each of its functions: all are parsed once."""
    found: dict[Rule, list[str]] = {rule: [] for rule in RULES}
    files: list[int] = []
    functions: list[int] = []
    for source in house.sources(*house.EVERYTHING):
        for rule in RULES:
            found[rule] += rule(source)
        if source.within(*house.PRODUCT):
            files.append(source.text.count("\n"))
            functions += map(house.length, source.functions)
    return found, files, functions


@every("rule", RULES)
def test_the_tree_holds_to(rule: Rule) -> None:
    found = tree()[0][rule]
    assert not found, "\n".join(["", *found])


@every("rule", RULES)
def test_a_planted_sin_is_found_by(rule: Rule) -> None:
    assert list(rule(Source(*RULES[rule])))


@pytest.mark.parametrize(
    "text",
    ["import asyncio", "import time as t", "from django.db import models", "async def f(): ...", "from os import path"],
)
def test_impurity_has_many_faces(text: str) -> None:
    assert list(impure_core(Source("toolsupport/core/x.py", text)))


@pytest.mark.parametrize(
    "text",
    ["Says one thing.", "Says one thing, e.g. this one.", "Says one thing.\n\nThen tells more. And more."],
)
def test_one_sentence_may_be_followed_by_an_essay(text: str) -> None:
    assert house.first_sentence_alone(text)


@pytest.mark.parametrize("text", ["", "No full stop", "Two things. Said here."])
def test_what_is_not_one_sentence(text: str) -> None:
    assert not house.first_sentence_alone(text)


def test_medians_are_told(record_property: Callable[[str, object], None]) -> None:
    """Reported, not enforced: half of all files within 120 lines, half of all functions within 8."""
    _, files, functions = tree()
    assert files and functions, "there is nothing to measure"
    record_property("median lines of a file", median(files))
    record_property("median lines of a function", median(functions))
    print(f"median file {median(files)}, median function {median(functions)} lines")


def test_nothing_else_is_at_the_top_of_the_repository() -> None:
    """Such as the output of a profiler; a copy without git has no list of its files."""
    listed = subprocess.run(["git", "ls-files"], cwd=house.ROOT, stdout=subprocess.PIPE, text=True, check=False).stdout
    assert {path.partition("/")[0] for path in listed.splitlines()} <= TOP

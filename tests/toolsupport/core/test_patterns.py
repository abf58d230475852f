"""The cost of the patterns of core/: none may keep memory for each character, as alternatives in a repeat do."""

from __future__ import annotations

import pkgutil
import re
import tracemalloc
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from toolsupport import core
from toolsupport.core.json_repair import nesting
from toolsupport.core.shell_equivalents import _parts

LONG = 5_000
MOST_BYTES = 2  # for each character
RUNS = (
    *"a1\\\"' \n[{(<é/-%`", "\\\\", "1_", "a b ", '"a" ', "\\n", "a=", "a='b' ", "'a' + ", "\\a", "a.", "1.", "a-"
)  # fmt: skip
TEXTS = [opening + run * (LONG // len(run)) for run in RUNS for opening in ("", '"', "'", "(", "a=", 'a="', "<script>")]


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Every pattern that stands in a module, also in a tuple or a mapping of it."""
    for found in pkgutil.walk_packages(core.__path__, "toolsupport.core."):
        module = import_module(found.name)
        for name, value in vars(module).items():
            held = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
            yield from ((f"{found.name}.{name}", one) for one in held if isinstance(one, re.Pattern))


PATTERNS = {pattern.pattern: (name, pattern) for name, pattern in patterns()}


@pytest.fixture(scope="module", autouse=True)
def traced() -> Iterator[None]:
    """Trace memory once for all tests: Python 3.11 can crash if that begins or ends beside other threads."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


def memory(read: object, *given: object) -> int:
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    read(*given)  # type: ignore[operator]
    return tracemalloc.get_traced_memory()[1] - before


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=[name for name, _ in PATTERNS.values()])
def test_a_pattern_keeps_no_memory_for_what_it_read(pattern: tuple[str, re.Pattern[Any]]) -> None:
    for text in TEXTS:
        read = text if isinstance(pattern[1].pattern, str) else text.encode()
        # What another thread of the test run takes meanwhile counts too, but not each time.
        assert any(memory(pattern[1].match, read) < MOST_BYTES * LONG for _ in range(3)), text[:20]


def test_a_script_of_sed_keeps_none_either() -> None:
    script = "s/" + "a" * LONG * 4 + "/b/"
    assert memory(_parts, script) < 8 * len(script)


@pytest.mark.parametrize(
    ("text", "deep"),
    [('{"a": "[{\\"}"}', 1), ('["\\\\", {}]', 2), ('["[[', 1), ('"', 0), ("[[[]]]", 3), ('["\\', 1), ("[{}, {}]", 2)],
)
def test_how_deep_a_text_nests(text: str, deep: int) -> None:
    assert nesting(text) == deep

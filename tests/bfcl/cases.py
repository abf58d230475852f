"""Makes cases of an exam out of the Berkeley Function Calling Leaderboard, whose data is that of `bfcl-eval`.

Read are the categories with one round in JSON's own types. Left out are those in Java and JavaScript, of several rounds
with a simulated state, of memory and of web search, and `live_relevance`, which has no right calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs

from tests.loss import bfcl
from toolsupport.core.errors import ConfigError
from toolsupport.core.exams import cases as exam_cases
from toolsupport.core.exams.cases import ExamCase
from toolsupport.core.types import JSON

CALLED = (
    *("simple_python", "multiple", "parallel", "parallel_multiple"),
    *("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
)
UNCALLED = ("irrelevance", "live_irrelevance")
CATEGORIES = (*CALLED, *UNCALLED)
MOST_VALUES = 200  # right values of one argument: an object has all combinations of those within
RESULT = '{"status": "done"}'
SEED = 1
LEFT_OUT = object()


class Category:
    """The cases of a category, in order, and how many entries are `left_out`.

    These are entries whose right calls do not fit their own tools, or whose tools have no names of their own.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name, self.left_out = name, 0
        self.cases: list[ExamCase] = []
        answers = _answers(folder, name) if name in CALLED else {}
        for entry in bfcl.lines(folder / f"BFCL_v4_{name}.json"):
            try:
                self.cases.append(_case(entry, answers.get(entry["id"], []), together="parallel" in name))
            except (ConfigError, ValueError):
                self.left_out += 1

    def sample(self, count: int) -> tuple[ExamCase, ...]:
        """Return so many cases by chance, always the same; all of them for 0."""
        if not 0 < count < len(self.cases):
            return tuple(self.cases)
        return tuple(Random(f"{SEED} {self.name}").sample(self.cases, count))


def _answers(folder: Path, name: str) -> dict[str, Any]:
    return {one["id"]: one["ground_truth"] for one in bfcl.lines(folder / "possible_answer" / f"BFCL_v4_{name}.json")}


def _case(entry: JSON, answer: Sequence[JSON], *, together: bool) -> ExamCase:
    """Return the case of an entry. Raises ConfigError and ValueError for one that cannot be asked."""
    tools = [_tool(one) for one in entry["function"]]
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    if len(schemas) != len(tools):
        raise ValueError("two tools of one name")
    expected = [_expected(name, given, schemas) for call in answer for name, given in call.items()]
    return exam_cases.read_case(
        {
            "id": entry["id"],
            "messages": [{"role": one["role"], "content": one["content"]} for one in entry["question"][0]],
            "tools": tools,
            "expected": expected,
            "recorded": [{"name": name, "result": RESULT} for name in sorted({one["name"] for one in expected})],
            "together": together,
        }
    )


def _tool(given: JSON) -> JSON:
    function = {"description": given.get("description", ""), "parameters": bfcl.schema(given["parameters"])}
    return {"type": "function", "function": {"name": bfcl.tool_name(given["name"]), **function}}


def _expected(name: str, given: dict[str, list[Any]], schemas: JSON) -> JSON:
    """Return an expected call. "" among the values of an argument means that it may be left out."""
    tool = bfcl.tool_name(name)
    arguments: JSON = {}
    accepts, optional = {}, []
    for key, values in given.items():
        right = list(islice((one for value in values if value != "" for one in _values(value)), MOST_VALUES))
        if "" in values:
            optional.append(key)
        if right:
            arguments[key], accepts[key] = right[0], right[1:]
    needed = {key: value for key, value in arguments.items() if key not in optional}
    if not any(jsonschema_rs.is_valid(schemas[tool], one) for one in (arguments, needed)):
        raise ValueError("a right call that does not fit its own tool")
    return {"name": tool, "arguments": arguments, "accepts": accepts, "optional": optional}


def _values(value: Any) -> Iterator[Any]:
    """Yield each value that a right one stands for: within an object, each key has a list of them."""
    if isinstance(value, list):
        yield from map(list, product(*(list(islice(_values(one), MOST_VALUES)) for one in value)))
    elif isinstance(value, dict):
        inner = [_of_key(right if isinstance(right, list) else [right]) for right in value.values()]
        for chosen in product(*inner):
            yield {key: one for key, one in zip(value, chosen, strict=True) if one is not LEFT_OUT}
    else:
        yield value


def _of_key(right: Sequence[Any]) -> list[Any]:
    found = (one for value in right for one in ([LEFT_OUT] if value == "" else _values(value)))
    return list(islice(found, MOST_VALUES))


def found_in(environment: Path) -> Path:
    """Return the folder of the data in an environment that has `bfcl-eval`. Raises ConfigError."""
    found = next(iter(environment.glob("lib/python*/site-packages/bfcl_eval/data")), None)
    if found is None:
        raise ConfigError(f"{environment} has no package bfcl-eval.")
    return found

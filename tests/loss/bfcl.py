"""Reads the calls of the Berkeley Function Calling Leaderboard, from the data of its package `bfcl-eval`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.loss.gold import Gold, Task

PARTS = (
    *("simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple"),
    *("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
)
# Its names for types that JSON Schema calls otherwise; what is no type there may be anything.
TYPES = {
    **{name: "object" for name in ("dict", "HashMap", "Hashtable")},
    **{name: "number" for name in ("float", "double")},
    **{name: "array" for name in ("tuple", "list", "Array", "ArrayList", "Queue", "Stack", "Set")},
    **{name: "integer" for name in ("int", "long", "short", "byte", "Bigint")},
    **{name: "string" for name in ("String", "char")},
    **{name: "boolean" for name in ("Boolean", "bool")},
}
KNOWN = {"string", "integer", "number", "boolean", "array", "object", "null"}


def load(folder: Path) -> list[Task]:
    """The tasks of a folder `bfcl_eval/data`, in order, but for those with a call that does not fit its own tool."""
    return [task for part in PARTS for task in _tasks(folder, part) if _fits(task)]


def _fits(task: Task) -> bool:
    return all(jsonschema_rs.is_valid(task.tools[name], arguments) for name, arguments in task.calls)


def _tasks(folder: Path, part: str) -> Iterator[Task]:
    name = f"BFCL_v4_{part}.json"
    answers = {one["id"]: one["ground_truth"] for one in lines(folder / "possible_answer" / name)}
    for one in lines(folder / name):
        tools = {tool_name(tool["name"]): schema(tool["parameters"]) for tool in one["function"]}
        calls: Gold = [
            (tool_name(name), _arguments(given, tools[tool_name(name)]))
            for call in answers[one["id"]]
            for name, given in call.items()
        ]
        yield Task(one["id"], tools, calls)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines() if line]


def tool_name(name: str) -> str:
    """The name as hosted servers take it."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64]


def schema(given: Any) -> Any:
    """The JSON Schema of theirs."""
    if not isinstance(given, dict):
        return given
    made = {key: value for key, value in given.items() if key not in ("type", "properties", "items")}
    kind = TYPES.get(given.get("type", ""), given.get("type"))
    if kind in KNOWN:
        made["type"] = kind
    if isinstance(given.get("properties"), dict):
        made["properties"] = {key: schema(value) for key, value in given["properties"].items()}
    if "items" in given:
        made["items"] = schema(given["items"])
    return made


def _arguments(given: dict[str, list[Any]], parameters: Any) -> dict[str, Any]:
    """The first possible value of each argument; "" among them means that it may be left out."""
    properties = parameters.get("properties", {})
    return {
        key: _value(values[0], properties.get(key, {}))
        for key, values in given.items()
        if values and (values[0] != "" or key in parameters.get("required", ()))
    }


def _value(value: Any, form: Any) -> Any:
    """The value itself; objects hold lists of possible values within."""
    form = form if isinstance(form, dict) else {}
    if isinstance(value, list):
        return [_value(one, form.get("items", {})) for one in value]
    if isinstance(value, dict):
        inside = form.get("properties", {})
        return {
            key: _value(one[0] if isinstance(one, list) and one else one, inside.get(key, {}))
            for key, one in value.items()
            if one != [""] and not (isinstance(one, list) and one and one[0] == "")
        }
    return float(value) if form.get("type") == "number" and type(value) is int else value

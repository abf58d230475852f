"""Makes a call of what a model wrote: its name, and arguments that have the types of the tool's schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolsupport.core.coercion import coerce, properties, resolved, type_of
from toolsupport.core.json_repair import read_json
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import JSON, ToolSpec, is_json_object

NAME_KEYS = ("name", "function", "tool_name", "tool", "function_name", "recipient_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "kwargs", "tool_input", "action_input")
ID_KEYS = ("id", "tool_call_id", "call_id")
OTHER_KEYS = frozenset({*ID_KEYS, "type", "index", "thought", "reasoning"})
WRAPPERS = ("function", "function_call", "tool_call")
BRACKET_TOO_MANY = "left out a bracket too many"


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call as it was read; `why_not` says why it could not be, in words for the model, else ""."""

    name: str = ""
    arguments: JSON | None = None
    repairs: tuple[str, ...] = ()
    id: str = ""
    why_not: str = ""


def compact(value: Any) -> str:
    """JSON as it is shown and streamed: without spaces, with all characters as themselves."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_call(text: str, tools: Sequence[ToolSpec]) -> ParsedCall:
    """A call from an object with a name and arguments, under any of the keys that models use for them."""
    read = read_json(text)
    if read is None or not isinstance(read.value, dict):
        return ParsedCall(why_not="This is not a JSON object. Write the call again as one, with a name and arguments.")
    return call_from(read.value, read.repairs, tools)


def call_from(value: JSON, repairs: tuple[str, ...], tools: Sequence[ToolSpec]) -> ParsedCall:
    """A call from an object that was read already."""
    value, id_ = _unwrapped(value)
    key = next((one for one in NAME_KEYS if isinstance(value.get(one), str) and value[one].strip()), "")
    if not key:
        return _named_by_its_key(value, repairs, tools)
    name = value[key].strip()
    found, more = _arguments_in(value, key, find_tool(name, tools))
    return replace(finished(name, found, (*repairs, *more), tools), id=id_)


def finished(name: str, arguments: Any, repairs: tuple[str, ...], tools: Sequence[ToolSpec]) -> ParsedCall:
    """A call from a name and whatever stood for its arguments."""
    value, more = _as_object(arguments)
    if value is None:
        why = f"The arguments of {name[:200]} are not a JSON object. Call it again with arguments as one."
        return ParsedCall(name, why_not=why)
    typed_ones, typings = typed(value, find_tool(name, tools))
    return ParsedCall(name, typed_ones, (*repairs, *more, *typings))


def typed(arguments: JSON, spec: ToolSpec | None) -> tuple[JSON, tuple[str, ...]]:
    """The arguments with the types of the schema, and in words what was changed for that."""
    if spec is None:
        return arguments, ()
    schemas = properties(spec.parameters)
    result, repairs = {}, []
    for key, value in arguments.items():
        result[key] = coerce(value, schemas[key], spec.parameters) if key in schemas else value
        if result[key] is not value and compact(result[key]) != compact(value):
            before, after = type_of(value), type_of(result[key])
            repairs.append(
                f"{key}: read {before} as {after}" if before != after else f"{key}: read parts by their schema"
            )
    return result, tuple(repairs)


def _unwrapped(value: JSON) -> tuple[JSON, str]:
    """The object with name and arguments, and the id, wherever it stands."""
    id_ = next((value[key] for key in ID_KEYS if isinstance(value.get(key), str)), "")
    for key in WRAPPERS:
        if is_json_object(value.get(key)) and any(isinstance(value[key].get(name), str) for name in NAME_KEYS):
            return value[key], id_
    return value, id_


def _named_by_its_key(value: JSON, repairs: tuple[str, ...], tools: Sequence[ToolSpec]) -> ParsedCall:
    """`{"get_weather": {"city": "Bonn"}}`: only a name that is offered can be one."""
    name = next(iter(value), "")
    if len(value) == 1 and is_json_object(value[name]) and find_tool(name, tools):
        return finished(name, value[name], repairs, tools)
    return ParsedCall(why_not='The call has no name. Write it again with "name" and "arguments".')


def _arguments_in(value: JSON, name_key: str, spec: ToolSpec | None) -> tuple[Any, tuple[str, ...]]:
    for key in ARGUMENT_KEYS:
        if key in value and key != name_key:
            return value[key], () if key in ("arguments", "parameters") else (f"took {key} for the arguments",)
    rest = {key: part for key, part in value.items() if key != name_key and key not in OTHER_KEYS}
    known = properties(spec.parameters) if spec else {}
    if rest and all(key in known for key in rest):
        return rest, ("took what stood beside the name for the arguments",)
    return {}, ()


def _as_object(arguments: Any) -> tuple[JSON | None, tuple[str, ...]]:
    """An object, also where it was written into a text, or alone in a list."""
    if arguments is None or arguments in ("", []):
        return {}, ()
    repairs: tuple[str, ...] = ()
    if isinstance(arguments, str):
        read = read_json(arguments)
        if read is None:
            return None, ()
        arguments, repairs = read.value, ("read the arguments out of a text", *read.repairs)
    if isinstance(arguments, list) and len(arguments) == 1:
        arguments, repairs = arguments[0], (*repairs, "took the arguments out of a list")
    return (arguments, repairs) if isinstance(arguments, dict) else (None, ())


def schema_of(key: str, spec: ToolSpec | None) -> Mapping[str, Any] | None:
    """The schema of one parameter, None where the tool does not know it."""
    if spec is None:
        return None
    known = properties(spec.parameters)
    return resolved(known[key], spec.parameters) if key in known else None

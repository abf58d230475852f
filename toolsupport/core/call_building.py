"""Builds a call from the text of a model: its name, and arguments converted to the types of the tool's schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolsupport.core import free_text_tools
from toolsupport.core.coercion import (
    Coercion,
    is_left_out,
    is_nothing,
    properties,
    required,
    resolved,
    type_of,
    whole,
)
from toolsupport.core.json_repair import read_json
from toolsupport.core.schema_limits import parts_of
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import JSON, ToolSpec, is_json_object

NAME_KEYS = ("name", "function", "tool_name", "tool", "function_name", "recipient_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "kwargs", "tool_input", "action_input")
ID_KEYS = ("id", "tool_call_id", "call_id")
OTHER_KEYS = frozenset({*ID_KEYS, "type", "index", "thought", "reasoning"})
WRAPPERS = ("function", "function_call", "tool_call")
# A model that writes a list of thousands writes its types right, and each part takes 10 µs.
MOST_CONVERTED = 3_000
LONGEST_TEXT = 64 * 1024  # characters of arguments in a text that are read again
SEPARATORS = re.compile(r"[-_\s]")
BRACKET_TOO_MANY = "removed an extra bracket"


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A parsed call; `why_not` is the reason, written for the model, why it could not be parsed, else ""."""

    name: str = ""
    arguments: JSON | None = None
    repairs: tuple[str, ...] = ()
    id: str = ""
    why_not: str = ""


def compact(value: Any) -> str:
    """Serialise JSON without spaces and without escaping non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_call(text: str, tools: Sequence[ToolSpec]) -> ParsedCall:
    """Parse a call from an object with a name and arguments, under any key that models use for them."""
    read = read_json(text)
    if read is None or not isinstance(read.value, dict):
        return ParsedCall(why_not="This is not a JSON object. Write the call again as one, with a name and arguments.")
    return call_from(read.value, read.repairs, tools)


def call_from(value: JSON, repairs: tuple[str, ...], tools: Sequence[ToolSpec]) -> ParsedCall:
    """Build a call from an object that is already parsed."""
    value, id_ = _unwrapped(value)
    key = next((one for one in NAME_KEYS if isinstance(value.get(one), str) and value[one].strip()), "")
    if not key:
        return _named_by_its_key(value, repairs, tools)
    name = value[key].strip()
    found, more = _arguments_in(value, key, find_tool(name, tools))
    return replace(finished(name, found, (*repairs, *more), tools), id=id_)


def finished(name: str, arguments: Any, repairs: tuple[str, ...], tools: Sequence[ToolSpec]) -> ParsedCall:
    """Build a call from a name and its arguments in any form."""
    value, more = _as_object(arguments)
    if value is None and isinstance(arguments, str):
        value, more = free_text_tools.from_words(arguments, find_tool(name, tools)), (free_text_tools.FROM_WORDS,)
    if value is None:
        why = f"The arguments of {name[:200]} are not a JSON object. Call it again with arguments as one."
        return ParsedCall(name, why_not=why)
    typed_ones, typings = typed(value, find_tool(name, tools))
    return ParsedCall(name, typed_ones, (*repairs, *more, *typings))


def typed(arguments: JSON, spec: ToolSpec | None) -> tuple[JSON, tuple[str, ...]]:
    """Return the arguments converted to the schema's types, and a description of each conversion."""
    if spec is None or parts_of(arguments) > MOST_CONVERTED:
        return arguments, ()
    schemas, coercion = properties(spec.parameters), Coercion(spec.parameters)
    result, repairs = {}, []
    for key, value in arguments.items():
        result[key] = coercion.value(value, schemas[key]) if key in schemas else value
        if result[key] is not value and compact(result[key]) != compact(value):
            before, after = type_of(value), type_of(result[key])
            repairs.append(
                f"{key}: read {before} as {after}" if before != after else f"{key}: read parts by their schema"
            )
    return result, tuple(repairs)


def without_wrapper(arguments: JSON, spec: ToolSpec) -> tuple[JSON, tuple[str, ...]]:
    """Return the arguments inside `{"arguments": {…}}`, perhaps with the name beside them, and the repair.

    Only where the tool declares all that is inside, and neither the wrapper nor any undeclared arguments.
    """
    names = [key for key in arguments if key in NAME_KEYS and find_tool(str(arguments[key]), (spec,))]
    wrappers = [key for key in arguments if key not in names]
    if len(wrappers) != 1 or wrappers[0] not in ARGUMENT_KEYS:
        return arguments, ()
    known = properties(spec.parameters)
    if known.keys() & arguments.keys():
        return arguments, ()
    written = arguments[wrappers[0]]
    if spec.parameters.get("additionalProperties") or len(written if isinstance(written, str) else "") > LONGEST_TEXT:
        return arguments, ()
    inside, repairs = _as_object(written)
    if not inside or not inside.keys() <= known.keys():
        return arguments, ()
    return inside, (f"took the arguments out of {wrappers[0]}", *repairs)


def with_known_names(arguments: JSON, spec: ToolSpec) -> tuple[JSON, tuple[str, ...]]:
    """Return arguments whose names differ from one of the tool in case, `-` and `_` only under that, with the repairs.

    A name is corrected if exactly one can be meant, and it is not given beside it.
    """
    known = properties(spec.parameters)
    if not arguments.keys() - known.keys():
        return arguments, ()
    missing, given = _by_letters(known.keys() - arguments.keys()), _by_letters(arguments.keys() - known.keys())
    meant = {
        written[0]: missing[letters][0]
        for letters, written in given.items()
        if letters and len(written) == len(missing.get(letters, ())) == 1
    }
    repairs = tuple(f"{name}: read as {meant[name]}" for name in arguments if name in meant)
    return {meant.get(name, name): value for name, value in arguments.items()}, repairs


def _by_letters(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(SEPARATORS.sub("", name).lower(), []).append(name)
    return found


def is_definition(call: ParsedCall, tools: Sequence[ToolSpec]) -> bool:
    """Return whether the object of a call defines its tool: the arguments are a schema that the tool does not take."""
    given, spec = call.arguments or {}, find_tool(call.name, tools)
    parts = given.get("properties")
    if given.get("type") != "object" or not is_json_object(parts) or not all(map(is_json_object, parts.values())):
        return False
    return spec is None or "properties" not in properties(spec.parameters)


def without_nulls(arguments: JSON, spec: ToolSpec) -> tuple[JSON, tuple[str, ...]]:
    """Return the arguments without optional ones that are null and may not be: they are meant as not given."""
    known, needed = properties(spec.parameters), required(whole(spec.parameters, spec.parameters))
    coercion = Coercion(spec.parameters)
    dropped = [
        name
        for name, value in arguments.items()
        if is_nothing(value)
        and name in known
        and name not in needed
        and is_left_out(value, coercion.allowed(known[name]))
    ]
    kept = {name: value for name, value in arguments.items() if name not in dropped}
    return kept, tuple(f"{name}: left out, as it was null" for name in dropped)


def _unwrapped(value: JSON) -> tuple[JSON, str]:
    """Find the object with name and arguments, and the id, at any nesting."""
    id_ = next((value[key] for key in ID_KEYS if isinstance(value.get(key), str)), "")
    for key in WRAPPERS:
        if is_json_object(value.get(key)) and any(isinstance(value[key].get(name), str) for name in NAME_KEYS):
            return value[key], id_
    return value, id_


def _named_by_its_key(value: JSON, repairs: tuple[str, ...], tools: Sequence[ToolSpec]) -> ParsedCall:
    """Parse `{"get_weather": {"city": "Bonn"}}`; only the name of an offered tool counts."""
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
        return rest, ("used the values beside the name as the arguments",)
    return {}, ()


def _as_object(arguments: Any) -> tuple[JSON | None, tuple[str, ...]]:
    """Return an object, also if it was written as a string, or as the only item of a list."""
    if arguments is None or arguments in ("", []):
        return {}, ()
    repairs: tuple[str, ...] = ()
    if isinstance(arguments, str):
        read = read_json(arguments)
        if read is None:
            return None, ()
        arguments, repairs = read.value, ("read the arguments from a text", *read.repairs)
    if isinstance(arguments, list) and len(arguments) == 1:
        arguments, repairs = arguments[0], (*repairs, "read the arguments from a list")
    return (arguments, repairs) if isinstance(arguments, dict) else (None, ())


def schema_of(key: str, spec: ToolSpec | None) -> Mapping[str, Any] | None:
    """Return the schema of one parameter, None if the tool does not define it."""
    if spec is None:
        return None
    known = properties(spec.parameters)
    return resolved(known[key], spec.parameters) if key in known else None

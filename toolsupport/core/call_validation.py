"""Decides whether a call may run: a tool that was offered, with arguments that fit its schema.

Other calls become a CallRejected with a reason that the model can act on; repairs are listed in `repairs`. A name is
corrected only if exactly one offered tool can be meant. Arguments that do not fit the schema
take its types first, as those of calls in text do (`"3"` where an integer is wanted); arguments that fit stay.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs

from toolsupport.core import exact_json, sanitize, schema_patterns
from toolsupport.core.call_building import MOST_CONVERTED, typed, with_known_names, without_nulls, without_wrapper
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.free_text_tools import with_input
from toolsupport.core.schema_complaints import complaint
from toolsupport.core.schema_limits import (
    DEEPEST,
    MOST_CHARACTERS,
    MOST_DESCRIBED,
    SchemaBudget,
    UnsupportedSchema,
    depth_of,
    parts_of,
)
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import JSON, ToolCall, ToolSpec

MOST_COMPLAINTS = 5
LONGEST_COMPLAINT = 300
MOST_NAMES = 40
MOST_BYTES = 1024 * 1024
# Schemas up to this size are kept compiled in larger numbers.
SMALL = 16 * 1024
FEW_PATTERNS = 8  # each takes up to a third of a millisecond
UNUSABLE = "the tool's own schema cannot be used ({})"
TOO_DEEP = UNUSABLE.format("it is far too many levels deep")
UNDESCRIBED = "one of their parts does not, and there are too many to say which; send less at once"


def check(call: ToolCall, offered: Sequence[ToolSpec]) -> CallReady | CallRejected:
    """Return a call that may run (its name perhaps corrected), or the rejection with its reason."""
    spec = find_tool(call.name, offered)
    if spec is None:
        return _unknown(call, offered)
    if spec.name != call.name:
        call = replace(call, name=spec.name, repairs=(*call.repairs, f"asked for {call.name}, meant {spec.name}"))
    inside, repairs = without_wrapper(call.arguments, spec)
    if repairs:
        call = replace(call, arguments=inside, repairs=(*call.repairs, *repairs))
    complaints = complaints_about(call.arguments, spec.parameters)
    if complaints:
        call, complaints = _typed(call, spec, complaints)
    if complaints:
        listed = "; ".join(complaints)
        reason = f"The arguments of {spec.name} do not fit: {listed}. Call it again with arguments that fit its schema."
        return _rejected(call, reason, "schema")
    return CallReady(call)


def preparing(call: ToolCall, offered: Sequence[ToolSpec]) -> Iterator[None]:
    """Compile a large schema, or one of many patterns, before its first check, in steps, so others continue."""
    spec = find_tool(call.name, offered)
    if spec is not None and depth_of(spec.parameters) <= DEEPEST:
        yield from _compiling(spec.parameters)


def _compiling(schema: JSON) -> Iterator[None]:
    written = _json(schema)
    if written.count('"pattern"') > FEW_PATTERNS:
        yield from schema_patterns.preparing(schema)
    if len(written) > SMALL:
        yield
        with suppress(UnsupportedSchema):  # the check gives the reason
            _large_bound(written)
        yield
        _large_checker(written)
        yield


def _typed(call: ToolCall, spec: ToolSpec, complaints: list[str]) -> tuple[ToolCall, list[str]]:
    """Return the call with converted arguments if they then fit the schema, and the remaining errors otherwise."""
    if parts_of(call.arguments) > MOST_CONVERTED or sanitize.complaint(call.arguments):
        return call, complaints  # a text of NaN, or of half a character, would be another value than the one written
    arguments, repairs = call.arguments, tuple[str, ...]()
    for step in (with_known_names, typed, without_nulls, with_input):
        arguments, more = step(arguments, spec)
        repairs = (*repairs, *more)
    if not repairs or complaints_about(arguments, spec.parameters):
        return call, complaints
    return replace(call, arguments=arguments, repairs=(*call.repairs, *repairs)), []


def _unknown(call: ToolCall, offered: Sequence[ToolSpec]) -> CallRejected:
    names = [spec.name for spec in offered]
    lower = {name.lower(): name for name in names}
    close = difflib.get_close_matches(call.name[:200].lower(), list(lower), n=1)
    suggestion = lower[close[0]] if close else ""
    if suggestion:
        advice = f'Did you mean "{suggestion}"?'
    elif names:
        advice = f"The tools you can call are: {', '.join(names[:MOST_NAMES])}."
    else:
        advice = "No tools are offered here: answer without."
    return replace(
        _rejected(call, f'There is no tool called "{call.name[:200]}". {advice}', "unknown"), suggestion=suggestion
    )


def _rejected(call: ToolCall, reason: str, fault: str) -> CallRejected:
    return CallRejected(call.name, reason, sanitize.text(_json(call.arguments)), call.id, fault=fault)


def unusable(schema: JSON) -> str:
    """Return why no call of a tool with this schema could be accepted, "" if one could.

    A large schema is not compiled where its form is right: that takes time, and its tool may never be called.
    """
    try:
        written = _json(schema)
    except RecursionError:
        return TOO_DEEP
    checker = _checker(written) if len(written) <= SMALL else _form_of(schema, written)
    return checker if isinstance(checker, str) else ""


def _form_of(schema: JSON, written: str) -> object:
    """Return the reason why a large schema cannot be used, as far as its size and its form show it."""
    try:
        _large_bound(written)
        if jsonschema_rs.meta.is_valid(schema):
            return ""
    except (UnsupportedSchema, jsonschema_rs.ReferencingError) as error:
        return _unusable(error)
    return _large_checker(written)  # of an older draft, perhaps


def complaints_about(arguments: JSON, schema: JSON) -> list[str]:
    """Return up to five sentences about faults of the arguments; none if they fit."""
    checker = _checker_of(schema)
    if isinstance(checker, str):
        return [checker]
    validator, bound = checker
    try:
        written = exact_json.dumps(arguments)
    except ValueError as error:  # half of a character, or infinity, which no schema detects
        return [f"they are not JSON ({sanitize.complaint(arguments) or error})"[:LONGEST_COMPLAINT]]
    if rb"\u0000" in written and (found := sanitize.complaint(arguments)):
        return [found]
    if len(written) > MOST_BYTES:
        return [f"they have {len(written):,} bytes, more than the {MOST_BYTES:,} that are taken; send less at once"]
    parts = parts_of(arguments)
    if too_much := bound.too_much(arguments, parts):
        return [too_much]
    schema_patterns.begin_check()
    if validator.is_valid(arguments):
        return []
    describable = bound.steps(parts) * (1 + len(written) // 16384 + parts // 500) <= MOST_DESCRIBED
    return _described(validator, bound, arguments, MOST_COMPLAINTS if describable else 1)


def _described(validator: jsonschema_rs.Validator, bound: SchemaBudget, arguments: JSON, most: int) -> list[str]:
    """Return sentences about `most` errors. Each of them holds a copy of a part of the arguments, which costs time."""
    schema_patterns.begin_check()
    if most > 1:
        return [complaint(error) for error in islice(validator.iter_errors(arguments), most)]
    if bound.branches:
        return [UNDESCRIBED]
    try:
        validator.validate(arguments)
    except jsonschema_rs.ValidationError as error:
        return [complaint(error)]
    return [UNDESCRIBED]


def _checker_of(schema: JSON) -> tuple[jsonschema_rs.Validator, SchemaBudget] | str:
    try:
        written = _json(schema)
    except RecursionError:
        return TOO_DEEP
    return _checker(written) if len(written) <= SMALL else _large_checker(written)


def _compiled(schema: str) -> tuple[jsonschema_rs.Validator, SchemaBudget] | str:
    """Return the compiled schema with its bound, or the reason why it cannot be used; then every call is rejected."""
    try:
        bound = _bound(schema) if len(schema) <= SMALL else _large_bound(schema)
        return schema_patterns.compiled(json.loads(schema), retriever=_refuse), bound
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        return _unusable(error)


def _unusable(error: Exception) -> str:
    """Return the sentence about a schema, with the place of the fault in it if the library names one."""
    why = str(error).split("\n", 1)[0][:LONGEST_COMPLAINT]
    if isinstance(error, jsonschema_rs.ValidationError) and error.instance_path:
        place = ".".join(map(str, error.instance_path))
        why = f"{place[:LONGEST_COMPLAINT]}: {why}"
    return UNUSABLE.format(why)


def _bound(schema: str) -> SchemaBudget:
    """Return the bound of a schema. Raises UnsupportedSchema."""
    if len(schema) > MOST_CHARACTERS:
        raise UnsupportedSchema(f"it has more than {MOST_CHARACTERS:,} characters")
    return SchemaBudget(json.loads(schema))


_large_bound = lru_cache(maxsize=16)(_bound)
_checker = lru_cache(maxsize=512)(_compiled)
_large_checker = lru_cache(maxsize=16)(_compiled)


def _json(value: JSON) -> str:
    try:
        return exact_json.dumps(value).decode()
    except ValueError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refuse(uri: str) -> Any:
    """Reject references to other documents: a schema must not make the site read a file or contact a host."""
    raise ValueError(f"{uri} is outside of the schema")

"""Builds one schema for a whole reply: a call of one of the offered tools, several calls, or an answer.

The first key of the object decides which of them it is, so that the model decides before it writes anything else:
{"tool": "name", "arguments": {…}}, {"calls": [{"tool": …}, …]} or {"answer": "…"}.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolsupport.core.constrained.argument_schema import ArgumentSchema, TooManyParts
from toolsupport.core.constrained.closed_schema import strict_object
from toolsupport.core.constrained.scalar_schema import BASIC, SchemaRules
from toolsupport.core.types import JSON, ToolSpec

TOOL, ARGUMENTS, CALLS, ANSWER = "tool", "arguments", "calls", "answer"
MOST_CALLS = 8  # in one reply: a model that writes noise must come to an end
MOST_PARTS = 12_000  # of all tools; those beyond it take any object
CALL_REFERENCE: JSON = {"$ref": "#/$defs/call"}


def call_schema(
    tools: Sequence[ToolSpec], *, answer: bool = True, parallel: bool = False, rules: SchemaRules = BASIC
) -> JSON:
    """Return the schema of a reply. `answer`: the model may answer in words; `parallel`: it may make several calls.

    Arguments that servers cannot be constrained to are an object of any kind. Raises ValueError if nothing is allowed.
    """
    definitions: JSON = {}
    calls = _calls(tools, definitions, rules)
    branches = list(calls)
    if parallel and calls:
        definitions["call"] = _one_of(calls)
        several = {"type": "array", "items": CALL_REFERENCE, "minItems": 1, "maxItems": MOST_CALLS}
        branches = [CALL_REFERENCE, strict_object({CALLS: several})]
    if answer:
        branches.append(strict_object({ANSWER: {"type": "string"}}))
    if not branches:
        raise ValueError("a reply must be allowed to call a tool or to answer")
    return _one_of(branches) | ({"$defs": definitions} if definitions else {})


def _calls(tools: Sequence[ToolSpec], definitions: JSON, rules: SchemaRules) -> list[JSON]:
    """Return the schema of a call of each tool; definitions that arguments refer to are added.

    Plain rules make it one schema for all of them.
    """
    if rules.plain and tools:
        return [_call([tool.name for tool in tools], {"type": "object"})]
    calls, left = [], MOST_PARTS
    for number, tool in enumerate(tools, 1):
        try:
            read = ArgumentSchema(tool.parameters, f"a{number}_", left, rules)
        except TooManyParts:
            arguments: JSON = {"type": "object"}
        else:
            arguments, left = read.schema, read.left
            definitions |= read.definitions
        calls.append(_call([tool.name], arguments))
    return calls


def _call(names: list[str], arguments: JSON) -> JSON:
    return strict_object({TOOL: {"type": "string", "enum": names}, ARGUMENTS: arguments})


def _one_of(branches: Sequence[JSON]) -> JSON:
    return dict(branches[0]) if len(branches) == 1 else {"anyOf": list(branches)}

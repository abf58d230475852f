"""Finds the calls of a tool in a program that a model wrote, without running the program."""

from __future__ import annotations

import ast

from toolsupport.core.types import JSON, ToolCall, ToolSpec

LONGEST = 20_000  # characters


def calls_in(code: object, tool: ToolSpec) -> list[ToolCall]:
    """Return the calls of one tool with their literal arguments; none if the program cannot be parsed."""
    if not isinstance(code, str) or len(code) > LONGEST:
        return []
    try:
        tree = ast.parse(code)
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) == tool.name]
        return [ToolCall(f"call_{number}", tool.name, _arguments(node, tool)) for number, node in enumerate(found, 1)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _name(function: ast.expr) -> str:
    """Return `lookup_ticket` for `lookup_ticket(…)` and `default_api.lookup_ticket(…)`."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _arguments(call: ast.Call, tool: ToolSpec) -> JSON:
    """Map positional values to the parameters' names in order; values that are not literals are left out."""
    parameters = list(tool.parameters.get("properties", {}))
    given = [*zip(parameters, call.args, strict=False), *((one.arg, one.value) for one in call.keywords if one.arg)]
    return {name: value.value for name, value in given if isinstance(value, ast.Constant)}

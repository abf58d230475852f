"""Calls written as Python: lists of calls with the markers of several families, and a block of code."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from toolsupport.simulator.types import SimulatedCall


def plain(calls: Sequence[SimulatedCall]) -> str:
    return f"[{', '.join(expression(call) for call in calls)}]"


def lines(calls: Sequence[SimulatedCall]) -> str:
    """Write one call per line after a sentence, without any markers."""
    return "\n".join(["I will call it now.", "", *(expression(call) for call in calls)])


def llama4(calls: Sequence[SimulatedCall]) -> str:
    return f"<|python_start|>{plain(calls)}<|python_end|>"


def lfm2(calls: Sequence[SimulatedCall]) -> str:
    return f"<|tool_call_start|>{plain(calls)}<|tool_call_end|>"


def olmo3(calls: Sequence[SimulatedCall]) -> str:
    """Write one call per line, with values as JSON (`true`, `null`), as this family does."""
    lines = "\n".join(expression(call, json.dumps) for call in calls)
    return f"<function_calls>\n{lines}\n</function_calls>"


def code(calls: Sequence[SimulatedCall]) -> str:
    """Write a program that prints the results of its calls."""
    lines = "\n".join(f"print({expression(call)})" for call in calls)
    return f"```python\n{lines}\n```"


def expression(call: SimulatedCall, write: Callable[[Any], str] = repr) -> str:
    """Write one call; arguments whose names are not identifiers are written as `**{…}`."""
    named = [f"{name}={write(value)}" for name, value in call.arguments.items() if name.isidentifier()]
    odd = {name: value for name, value in call.arguments.items() if not name.isidentifier()}
    return f"{call.name}({', '.join([*named, *([f'**{odd!r}'] if odd else [])])})"

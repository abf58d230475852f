"""Calls written as tags, as Qwen3-Coder does: values are written between them unchanged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from toolsupport.simulator.types import SimulatedCall


def qwen3_coder(calls: Sequence[SimulatedCall]) -> str:
    return "\n".join(map(_call, calls))


def _call(call: SimulatedCall) -> str:
    values = "".join(f"<parameter={name}>\n{_value(value)}\n</parameter>\n" for name, value in call.arguments.items())
    return f"<tool_call>\n<function={call.name}>\n{values}</function>\n</tool_call>"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)

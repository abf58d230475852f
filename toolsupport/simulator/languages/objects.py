"""Calls written as JSON objects: Hermes, Mistral, Llama 3, plain JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from toolsupport.simulator.types import JSON, SimulatedCall

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789"


def as_object(call: SimulatedCall, key: str = "arguments") -> JSON:
    return {"name": call.name, key: call.arguments}


def hermes(calls: Sequence[SimulatedCall]) -> str:
    return "\n".join(f"<tool_call>\n{json.dumps(as_object(call))}\n</tool_call>" for call in calls)


def mistral(calls: Sequence[SimulatedCall]) -> str:
    """Write the form used before tokenizer 11: one array, in which every call has an id of nine characters."""
    listed = [{**as_object(call), "id": _id(place, call)} for place, call in enumerate(calls)]
    return f"[TOOL_CALLS]{json.dumps(listed)}"


def mistral_args(calls: Sequence[SimulatedCall]) -> str:
    return "".join(f"[TOOL_CALLS]{call.name}[ARGS]{json.dumps(call.arguments)}" for call in calls)


def plain(calls: Sequence[SimulatedCall]) -> str:
    """Write only JSON: one object, or an array of several."""
    listed = [as_object(call) for call in calls]
    return json.dumps(listed[0] if len(listed) == 1 else listed)


def llama3(calls: Sequence[SimulatedCall]) -> str:
    return "<|python_tag|>" + "; ".join(json.dumps(as_object(call, "parameters")) for call in calls)


def _id(place: int, call: SimulatedCall) -> str:
    seed = hashlib.sha256(f"{place} {call!r}".encode("utf-8", "replace")).digest()
    return "".join(LETTERS[byte % len(LETTERS)] for byte in seed[:9])

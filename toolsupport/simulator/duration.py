"""Parses how long a model stays loaded."""

from __future__ import annotations

import math
import re
from typing import Any

UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
DEFAULT = 300.0
PART = re.compile(r"(\d+\.?\d*|\.\d+)([^\d.]*)", re.ASCII)
WHOLE = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)[^\d.]*)+", re.ASCII)
GO_TYPES = {bool: "bool", list: "[]interface {}", dict: "map[string]interface {}"}


def seconds(value: Any) -> float:
    """Return the seconds of a `keep_alive`: a number, or text such as `5m`; below zero means for ever."""
    if value is None:
        return DEFAULT
    total = float(value) if isinstance(value, int | float) else _parse(value)
    return math.inf if total < 0 else total


def fault(value: Any) -> str:
    """Return Go's error for an invalid `keep_alive`, or ""."""
    if isinstance(value, str):
        return _text_fault(value)
    return f"Unsupported type: '{GO_TYPES[type(value)]}'" if type(value) in GO_TYPES else ""


def _parse(text: str) -> float:
    total = sum(float(number) * UNITS.get(unit, 0.0) for number, unit in PART.findall(text))
    return -total if text.startswith("-") else total


def _text_fault(text: str) -> str:
    shown = f'duration "{text}"'
    if text.lstrip("+-") == "0":
        return ""
    if not WHOLE.fullmatch(text):
        return f"time: invalid {shown}"
    units = [unit for _, unit in PART.findall(text)]
    wrong = next((unit for unit in units if unit not in UNITS), None)
    if wrong is None:
        return ""
    return f'time: unknown unit "{wrong}" in {shown}' if wrong else f"time: missing unit in {shown}"

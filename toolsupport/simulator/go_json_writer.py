"""Writes JSON byte for byte as Go's encoding/json does."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

# Go escapes these so that JSON can be embedded in HTML and JavaScript.
ESCAPES = (("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def text(value: Any) -> str:
    """Return a value as JSON; keys keep their order, as the fields of a Go struct do."""
    written = ENCODER.encode(value)
    for plain, escaped in ESCAPES:
        written = written.replace(plain, escaped)
    return written


def encode(value: Any) -> bytes:
    """Return a value as JSON in bytes; half a surrogate pair becomes a question mark."""
    return text(value).encode("utf-8", "replace")


def as_map(value: Any) -> Any:
    """Return the value with every object's keys sorted, as Go writes a map; whole numbers lose their `.0`."""
    if isinstance(value, dict):
        return {key: as_map(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [as_map(item) for item in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    return int(value) if whole else value


def timestamp(nanoseconds: int) -> str:
    """Return RFC 3339 in UTC for nanoseconds since 1970, without trailing zeros: `2025-01-01T00:00:00.5Z`."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    fraction = f".{rest:09d}".rstrip("0").rstrip(".")
    return f"{_to_the_second(seconds)}{fraction}Z"


@lru_cache(maxsize=8)
def _to_the_second(seconds: int) -> str:
    # All tokens within a second share this part of the timestamp.
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def now() -> str:
    return timestamp(time.time_ns())

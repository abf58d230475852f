"""Writes and reads JSON whose whole numbers may have more than 64 bits, as amounts of tokens and hashes have.

orjson refuses to write them and reads them as floats: then another number would be used than the model wrote.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import orjson

MANY_DIGITS = re.compile(r"[0-9]{19}")


def dumps(value: Any) -> bytes:
    """Return a JSON value as bytes. Raises ValueError if it holds half of a character or infinity."""
    with suppress(orjson.JSONEncodeError):
        written = orjson.dumps(value)
        if b"null" not in written or orjson.loads(written) == value:  # it writes infinity as null
            return written
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def loads(text: str) -> Any:
    """Return the value of a text. Raises ValueError for all that orjson refuses."""
    value = orjson.loads(text)
    if MANY_DIGITS.search(text):
        with suppress(ValueError, RecursionError):  # a number too long even for Python stays a float
            return json.loads(text)
    return value

"""Reads and writes an exam as a JSON file."""

from __future__ import annotations

import json
from typing import Any

from toolsupport.core import sanitize, strict_json
from toolsupport.core.errors import ConfigError
from toolsupport.core.exams.cases import ExamSuite, read_suite

MOST_BYTES = 4 * 1024 * 1024
DEEPEST = 64


def read(data: bytes, what: str = "The file") -> ExamSuite:
    """Read an exam. Raises ConfigError with the place of the first error."""
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{what} has more than {MOST_BYTES // 1024**2} MiB.")
    return read_suite(value(data, what))


def value(data: str | bytes, what: str) -> Any:
    """Return JSON of people as a value that can be stored. Raises ConfigError with the place of the error."""
    try:
        found = strict_json.read(data.removeprefix(b"\xef\xbb\xbf") if isinstance(data, bytes) else data)
    except (ValueError, UnicodeDecodeError) as error:
        raise ConfigError(f"{what} is not JSON: {error}.") from error
    _check_depth(found, what)
    if not sanitize.is_storable(found):
        raise ConfigError(f"{what} holds a NUL character (U+0000), which cannot be stored.")
    return found


def written(suite: ExamSuite) -> str:
    """Return the text of the file."""
    return json.dumps(suite.to_json(), ensure_ascii=False, indent=2) + "\n"


def _check_depth(found: Any, what: str) -> None:
    level, depth = [found], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise ConfigError(f"{what} is nested more than {DEEPEST} levels deep.")
        inner = [list(one.values()) if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [one for values in inner for one in values]

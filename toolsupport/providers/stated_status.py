"""Reads which HTTP status an error names that came inside a reply with status 200."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

STATED = ("code", "status", "status_code")
NAMED = ("type", "error_type")
# The errors of OpenAI's packages, whose names vLLM, SGLang and services in front of them use as types.
NAMES: Mapping[str, int] = MappingProxyType(
    {
        "BadRequestError": 400,
        "AuthenticationError": 401,
        "PermissionDeniedError": 403,
        "NotFoundError": 404,
        "UnprocessableEntityError": 422,
        "RateLimitError": 429,
        "InternalServerError": 500,
    }
)


def status_of(error: Any) -> int:
    """Return the status that an error in any envelope names, 200 if it names none."""
    if isinstance(error, list) and error:
        error = error[0]
    inner = error.get("error") if isinstance(error, Mapping) else None
    return next((status for place in (inner, error) for status in _statuses(place)), 200)


def _statuses(place: Any) -> Iterator[int]:
    if not isinstance(place, Mapping):
        return
    for key in STATED:
        written = str(place.get(key))
        if len(written) == 3 and written.isdecimal() and 400 <= int(written) < 600:
            yield int(written)
    yield from (NAMES[name] for key in NAMED if isinstance(name := place.get(key), str) and name in NAMES)

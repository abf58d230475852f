"""Converts the values of the most frequent columns for SQLite and back, as Django's fields do with many more calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from toolsupport.core.shared_json import SharedJson

EMPTY: dict[type, str] = {dict: "{}", list: "[]"}
_MADE: dict[str, Callable[[], Any]] = {"{}": dict, "[]": list}
Converter = Callable[[Any, Any, Any], Any]


# Left to the field, which refuses them.
STRICT = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS


def written(field: Any, value: Any) -> str | None:
    """Return the text of a time in UTC, of an id or of JSON; None for values that the field itself must convert."""
    kind = type(value)
    if kind is SharedJson:
        value.text = value.text or _as_json(dict(value)) or ""
        return value.text or None
    if kind is datetime and value.tzinfo is UTC and isinstance(field, models.DateTimeField):
        return str(value.replace(tzinfo=None))
    if kind is UUID and isinstance(field, models.ForeignKey | models.UUIDField):
        return str(value.hex)
    if kind not in EMPTY or type(field) is not models.JSONField or field.encoder is not None:
        return None
    return _as_json(value) if value else EMPTY[kind]


def _as_json(value: Any) -> str | None:
    """Return JSON in a tenth of the time that a field takes.

    None for what orjson refuses, such as huge numbers, and for NaN and infinities: the database then refuses what the
    field writes, as PostgreSQL does.
    """
    try:
        text = orjson.dumps(value, option=STRICT)
    except TypeError:
        return None
    return None if loses_numbers(value, text) else text.decode()


def loses_numbers(value: Any, written: bytes) -> bool:
    """Return whether orjson wrote null for a number of this value: it does so for NaN and infinities."""
    if b"null" not in written or orjson.loads(written) == value:
        return False
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return True
    except TypeError:  # orjson writes more types
        pass
    return False


def converters(field: Any, here: BaseDatabaseWrapper) -> list[Converter] | None:
    """Return what makes the values of a field of its column; None for fields with converters of their own."""
    if type(field) is models.DateTimeField and here.timezone is UTC:
        return [_time]
    return [_json] if type(field) is models.JSONField and field.decoder is None else None


def _time(value: Any, _expression: Any, _connection: Any) -> datetime | None:
    if isinstance(value, str):  # of an expression: Django's driver makes times of columns
        value = datetime.fromisoformat(value)
    return None if value is None else value.replace(tzinfo=UTC)


def _json(value: Any, _expression: Any, _connection: Any) -> Any:
    if value is None:
        return None
    made = _MADE.get(value)
    return json.loads(value) if made is None else made()

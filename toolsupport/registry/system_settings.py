"""The team's settings: what the environment says outranks what an administrator set in the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from toolsupport.models import Setting


@dataclass(frozen=True, slots=True)
class Known:
    """A setting: its default, what a stored value must be, the environment variable that outranks it ("" for none)."""

    default: Any
    valid: Callable[[Any], bool]
    variable: str = ""


KNOWN = {
    "base_system_prompt": Known("You are a helpful assistant.", lambda value: isinstance(value, str)),
    "default_model": Known(None, lambda value: value is None or (isinstance(value, int) and value > 0)),
}


def locked(key: str) -> bool:
    """True where the environment decides: the page shows the value and cannot change it. Raises KeyError."""
    variable = KNOWN[key].variable
    return bool(variable and settings.ENV.get(variable))


def get(key: str) -> Any:
    """The value in force. Raises KeyError for a setting that is not in the table."""
    known = KNOWN[key]
    if locked(key):
        return settings.ENV[known.variable]
    row = Setting.objects.filter(key=key).first()
    return row.value if row and known.valid(row.value) else known.default


@transaction.atomic
def put(key: str, value: Any) -> None:
    """Keep a value. Raises KeyError for an unknown setting, ValueError where the value cannot be one of it."""
    if not KNOWN[key].valid(value):
        raise ValueError(f"{key} cannot be {value!r}")
    Setting.objects.update_or_create(key=key, defaults={"value": value})


def base_system_prompt() -> str:
    """What every conversation's system text begins with, unless the conversation has its own."""
    return str(get("base_system_prompt"))


def default_model() -> int | None:
    """The profile a new conversation starts with, if the team chose one."""
    value = get("default_model")
    return int(value) if value is not None else None

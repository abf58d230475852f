"""Stores the team's settings; the environment has precedence over the values of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.conf import settings

from toolsupport.config.environment import GIVEN
from toolsupport.core.team_switches import SWITCHES
from toolsupport.models import Setting
from toolsupport.registry import row_cache

PROMPT_LENGTH = 20_000
REQUIRED_OF = ("off", "admins", "everyone")


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """A setting: its default, the check of a stored value, the environment variable with precedence ("" for none)."""

    default: Any
    valid: Callable[[Any], bool]
    variable: str = ""


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _are_switches(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) and _is_switch(on) for key, on in value.items())


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _are_left_out(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() <= {"tools", "servers"} and all(map(_are_names, value.values()))


KNOWN = {
    "base_system_prompt": SettingSpec("You are a helpful assistant.", lambda value: isinstance(value, str)),
    "temperature": SettingSpec(
        None, lambda value: value is None or (isinstance(value, int | float) and 0 <= value <= 2)
    ),
    "default_model": SettingSpec(None, lambda value: value is None or (isinstance(value, int) and value > 0)),
    "tools": SettingSpec({}, _are_switches),
    "left_out": SettingSpec({}, _are_left_out),
    "disabled_formats": SettingSpec([], _are_names),
    "primary_format": SettingSpec("", lambda value: isinstance(value, str)),
    "require_second_factor": SettingSpec(
        "off", lambda value: value in REQUIRED_OF, "TOOLSUPPORT_REQUIRE_SECOND_FACTOR"
    ),
    **{switch.name: SettingSpec(switch.default, switch.valid, switch.variable) for switch in SWITCHES},
}


def locked(key: str) -> bool:
    """Return True if the environment decides: the page shows the value and cannot change it. Raises KeyError."""
    return KNOWN[key].variable in settings.ENV[GIVEN]


def get(key: str) -> Any:
    """Return the effective value. Raises KeyError for an unknown setting."""
    return _in_force({key: KNOWN[key]}, {row.key: row.value for row in Setting.objects.filter(key=key)})[key]


def held(key: str) -> Any:
    """Return the effective value, locked until this transaction ends. Raises KeyError."""
    Setting.objects.get_or_create(key=key, defaults={"value": KNOWN[key].default})
    list(Setting.objects.select_for_update().filter(key=key))
    return get(key)


STORED = 'SELECT "key", value FROM toolsupport_setting'


def everything() -> dict[str, Any]:
    """Return all effective settings, in one query."""
    return in_force(row_cache.rows(STORED))


def in_force(rows: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return all effective settings from the rows of `STORED`, read before."""
    stored = {key: orjson.loads(value or "null") for key, value in rows}
    return _in_force(KNOWN, stored)


def _in_force(wanted: Mapping[str, SettingSpec], stored: Mapping[str, Any]) -> dict[str, Any]:
    environment = settings.ENV
    given = environment[GIVEN]
    valid = {key: value for key, value in stored.items() if key in wanted and wanted[key].valid(value)}
    return {
        key: environment[spec.variable] if spec.variable in given else valid.get(key, spec.default)
        for key, spec in wanted.items()
    }


def put(key: str, value: Any) -> None:
    """Store a value. Raises KeyError for an unknown setting, ValueError for an invalid value."""
    put_all({key: value})


def put_all(values: Mapping[str, Any]) -> None:
    """Store these values in one statement, all or none. Raises as `put` does."""
    for key, value in values.items():
        if not KNOWN[key].valid(value):
            raise ValueError(f"{key} cannot be {value!r}")
    rows = [Setting(key=key, value=value) for key, value in values.items()]
    written = ["value", "changed_at"]
    Setting.objects.bulk_create(rows, update_conflicts=True, unique_fields=["key"], update_fields=written)


def put_defaults(prompt: str, temperature: str, model: str) -> None:
    """Store the team's defaults as entered in a form ("" means none). Raises ValueError with a message for people."""
    degree = _degree(temperature)
    if len(prompt) > PROMPT_LENGTH:
        raise ValueError(f"The prompt can have up to {PROMPT_LENGTH:,} characters.")
    values = {
        "temperature": degree,
        "base_system_prompt": prompt.strip() or KNOWN["base_system_prompt"].default,
        "default_model": int(model) if model.isascii() and model.isdigit() else None,
    }
    put_all(values)


def _degree(written: str) -> float | None:
    try:
        degree = float(written) if written.strip() else None
    except ValueError:
        degree = math.nan
    if not KNOWN["temperature"].valid(degree):
        raise ValueError("The temperature must be a number from 0 to 2.")
    return degree


def default_model() -> int | None:
    """Return the profile that a new conversation starts with, if the team chose one."""
    value = get("default_model")
    return int(value) if value is not None else None

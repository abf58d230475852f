"""The team's settings: the environment outranks the values of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction

from toolsupport.config.environment import GIVEN
from toolsupport.models import Setting
from toolsupport.registry import raw_sql

PROMPT_LENGTH = 20_000


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """A setting: its default, what a stored value must be, the environment variable that outranks it ("" for none)."""

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
    "filter_only": SettingSpec(False, _is_switch, "TOOLSUPPORT_FILTER_ONLY"),
    "text_formats": SettingSpec(
        "measured", lambda value: value in ("measured", "all", "off"), "TOOLSUPPORT_TEXT_FORMATS"
    ),
    "code_mode": SettingSpec(True, _is_switch, "TOOLSUPPORT_CODE_MODE"),
    "runtime_learning": SettingSpec(True, _is_switch, "TOOLSUPPORT_RUNTIME_LEARNING"),
    "drift": SettingSpec("ask", lambda value: value in ("off", "ask", "auto"), "TOOLSUPPORT_DRIFT"),
    "startup_refresh": SettingSpec(True, _is_switch, "TOOLSUPPORT_STARTUP_REFRESH"),
}


def locked(key: str) -> bool:
    """True where the environment decides: the page shows the value and cannot change it. Raises KeyError."""
    return KNOWN[key].variable in settings.ENV[GIVEN]


def get(key: str) -> Any:
    """The value in force. Raises KeyError for a setting that is not in the table."""
    return _in_force(key, {row.key: row.value for row in Setting.objects.filter(key=key)})


def held(key: str) -> Any:
    """The value in force, which nobody else changes before this transaction ends. Raises KeyError."""
    Setting.objects.get_or_create(key=key, defaults={"value": KNOWN[key].default})
    list(Setting.objects.select_for_update().filter(key=key))
    return get(key)


STORED = 'SELECT "key", value FROM toolsupport_setting'


def everything() -> dict[str, Any]:
    """All settings in force, in one query."""
    stored = {key: orjson.loads(value or "null") for key, value in raw_sql.rows(STORED)}
    return {key: _in_force(key, stored) for key in KNOWN}


def _in_force(key: str, stored: Mapping[str, Any]) -> Any:
    known = KNOWN[key]
    if key in stored and known.valid(stored[key]) and not locked(key):
        return stored[key]
    return settings.ENV[known.variable] if locked(key) else known.default


@transaction.atomic
def put(key: str, value: Any) -> None:
    """Keep a value. Raises KeyError for an unknown setting, ValueError where the value cannot be one of it."""
    if not KNOWN[key].valid(value):
        raise ValueError(f"{key} cannot be {value!r}")
    Setting.objects.update_or_create(key=key, defaults={"value": value})


def base_system_prompt() -> str:
    """What every conversation's system text begins with, unless the conversation has its own."""
    return str(get("base_system_prompt"))


def temperature() -> float | None:
    """The sampling temperature where neither the conversation nor the model has one; None leaves it to the model."""
    value = get("temperature")
    return float(value) if value is not None else None


@transaction.atomic
def put_defaults(prompt: str, temperature_: str, model: str) -> None:
    """Keep the team's defaults as written in a form ("" means none). Raises ValueError with words for people."""
    try:
        degree = float(temperature_) if temperature_.strip() else None
        put("temperature", degree)
    except ValueError as error:
        raise ValueError("The temperature is a number from 0 to 2.") from error
    if len(prompt) > PROMPT_LENGTH:
        raise ValueError(f"The prompt may have {PROMPT_LENGTH:,} characters at most.")
    put("base_system_prompt", prompt.strip() or KNOWN["base_system_prompt"].default)
    put("default_model", int(model) if model.isascii() and model.isdigit() else None)


def default_model() -> int | None:
    """The profile a new conversation starts with, if the team chose one."""
    value = get("default_model")
    return int(value) if value is not None else None

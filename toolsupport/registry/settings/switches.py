"""Stores the switches of the team, set by administrators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolsupport.core.team_switches import SWITCHES, Switch, SwitchText, TeamSwitches
from toolsupport.registry.settings import team_settings


@dataclass(frozen=True, slots=True)
class ShownSwitch:
    """A switch as the page shows it; `chosen` is a key of its choices, `locked` the deciding variable, or ""."""

    key: str
    words: SwitchText
    chosen: str
    locked: str


def in_force() -> TeamSwitches:
    """Return all switches, in one query."""
    return of(team_settings.everything())


def of(team: Mapping[str, Any]) -> TeamSwitches:
    """Return the switches from the team's settings, as `system_settings.everything` reads them."""
    return TeamSwitches(**{switch.name: team[switch.name] for switch in SWITCHES})


def shown(team: Mapping[str, Any]) -> tuple[ShownSwitch, ...]:
    """Return all switches from the team's settings, in the order of the page."""
    return tuple(
        ShownSwitch(switch.name, switch.text, switch.written(team[switch.name]), _lock(switch)) for switch in SWITCHES
    )


def put(given: Mapping[str, str]) -> None:
    """Store a form's values; switches that it omits, or that the environment decides, stay.

    Raises ValueError with a message for people.
    """
    wanted: dict[str, Any] = {}
    for switch in SWITCHES:
        if switch.name not in given or _lock(switch):
            continue
        if given[switch.name] not in switch.values:
            raise ValueError(f"{switch.text.title}: choose one of {', '.join(switch.text.choices.values())}.")
        wanted[switch.name] = switch.values[given[switch.name]]
    team_settings.put_all(wanted)


def _lock(switch: Switch) -> str:
    return switch.variable if team_settings.locked(switch.name) else ""

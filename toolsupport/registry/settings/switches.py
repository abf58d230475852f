"""The switches of the team: read for those who act on them, shown and set by administrators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from toolsupport.core.team_switches import TeamSwitches
from toolsupport.registry.settings import team_settings

ON_OFF = {"on": True, "off": False}
AS_IS = {
    "text_formats": {"measured": "measured", "all": "all", "off": "off"},
    "drift": {"off": "off", "ask": "ask", "auto": "auto"},
}


@dataclass(frozen=True, slots=True)
class SwitchText:
    """What a switch is called, what it does, and its choices: as in a form → for people."""

    title: str
    meaning: str
    choices: Mapping[str, str]


WORDS = {
    "filter_only": SwitchText(
        "Only filter tools",
        "Nothing is asked, tested, learned or translated. What is stored stays in force, and tools still reach only"
        " models known to take them.",
        {"off": "No", "on": "Yes"},
    ),
    "text_formats": SwitchText(
        "Calls written as text",
        "For models without tools of their own: calls are written in the answer and read from it.",
        {"measured": "Where it was found to work", "all": "For all models", "off": "Never"},
    ),
    "code_mode": SwitchText(
        "Calls written as code",
        "A model may write code that calls the tools. It needs the tool python_execution as well.",
        {"on": "Allowed", "off": "Never"},
    ),
    "runtime_learning": SwitchText(
        "Learning from refusals",
        "When a server refuses tools in a running answer, ask whether to remember it. The answer goes on without"
        " tools either way.",
        {"on": "Ask", "off": "Do not ask"},
    ),
    "drift": SwitchText(
        "When a tested model has changed",
        "A new build may behave otherwise than the one that was tested.",
        {"ask": "Ask for a new test", "auto": "Test again when there is time", "off": "Do nothing"},
    ),
    "startup_refresh": SwitchText(
        "Refresh at start",
        "Ask every server for its models when the site starts.",
        {"on": "Yes", "off": "No"},
    ),
}


@dataclass(frozen=True, slots=True)
class ShownSwitch:
    """A switch as the page shows it; `chosen` is a key of its choices, `locked` the variable that decides, or ""."""

    key: str
    words: SwitchText
    chosen: str
    locked: str


def in_force() -> TeamSwitches:
    """All switches, in one query."""
    return of(team_settings.everything())


def of(team: Mapping[str, Any]) -> TeamSwitches:
    """The switches among the settings of the team, as `system_settings.everything` reads them."""
    return TeamSwitches(**{key: team[key] for key in WORDS})


def shown() -> tuple[ShownSwitch, ...]:
    """All switches, in the order of the page."""
    team = team_settings.everything()
    return tuple(ShownSwitch(key, words, _written(key, team[key]), _lock(key)) for key, words in WORDS.items())


@transaction.atomic
def put(given: Mapping[str, str]) -> None:
    """Keep what a form says; switches that it leaves out, or that the environment decides, stay as they are.

    Raises ValueError with words for people.
    """
    for key in WORDS:
        if key not in given or _lock(key):
            continue
        values = AS_IS.get(key, ON_OFF)
        if given[key] not in values:
            raise ValueError(f"{WORDS[key].title}: choose one of {', '.join(WORDS[key].choices.values())}.")
        team_settings.put(key, values[given[key]])


def _written(key: str, value: Any) -> str:
    return next(written for written, meant in AS_IS.get(key, ON_OFF).items() if meant == value)


def _lock(key: str) -> str:
    return team_settings.KNOWN[key].variable if team_settings.locked(key) else ""

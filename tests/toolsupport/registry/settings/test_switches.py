"""The switches in force: the environment first, then what an administrator chose, then the default."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from toolsupport.config import environment
from toolsupport.core.team_switches import SWITCHES, TeamSwitches
from toolsupport.registry.settings import switches, team_settings

pytestmark = pytest.mark.django_db

TEXTS = {switch.name: switch.text for switch in SWITCHES}
OTHERWISE: dict[str, tuple[str, Any]] = {
    "filter_only": ("on", True),
    "text_formats": ("off", "off"),
    "code_mode": ("off", False),
    "force": ("off", False),
    "runtime_learning": ("off", False),
    "drift": ("auto", "auto"),
    "first_use": ("refuse", "refuse"),
    "only_validated_fallbacks": ("on", True),
    "tools_notice": ("on", True),
    "startup_refresh": ("off", False),
}


def set_in_environment(settings: Settings, key: str, value: str) -> None:
    variable = team_settings.KNOWN[key].variable
    settings.ENV = settings.ENV | environment.read({variable: value})


def test_the_defaults_are_the_same_wherever_they_are_written() -> None:
    read = environment.read({})
    assert switches.in_force() == TeamSwitches()
    assert [switch.name for switch in SWITCHES] == list(OTHERWISE)
    for switch in SWITCHES:
        known = team_settings.KNOWN[switch.name]
        assert known.default == read[known.variable] == getattr(TeamSwitches(), switch.name)
        assert switch.text.choices.keys() == switch.values.keys()


# O6
@pytest.mark.parametrize("key", OTHERWISE)
def test_an_administrator_sets_a_switch(key: str) -> None:
    written, value = OTHERWISE[key]
    switches.put({key: written})
    assert getattr(switches.in_force(), key) == value
    assert [(one.chosen, one.locked) for one in switches.shown(team_settings.everything()) if one.key == key] == [
        (written, "")
    ]


# O6
@pytest.mark.parametrize("key", OTHERWISE)
def test_what_the_environment_says_is_locked(settings: Settings, key: str) -> None:
    written, value = OTHERWISE[key]
    set_in_environment(settings, key, {"on": "1"}.get(written, written))
    first = next(iter(TEXTS[key].choices))
    switches.put({key: first})
    assert getattr(switches.in_force(), key) == value
    variable = team_settings.KNOWN[key].variable
    assert [one.locked for one in switches.shown(team_settings.everything()) if one.key == key] == [variable]


def test_an_environment_that_says_the_default_locks_it_too(settings: Settings) -> None:
    set_in_environment(settings, "startup_refresh", "1")
    switches.put({"startup_refresh": "off"})
    assert switches.in_force().startup_refresh


def test_one_wrong_choice_changes_nothing() -> None:
    with pytest.raises(ValueError, match="When a tested model has changed"):
        switches.put({"code_mode": "off", "drift": "sometimes"})
    assert switches.in_force() == TeamSwitches()


def test_every_choice_of_the_page_can_be_kept() -> None:
    for key, words in TEXTS.items():
        for choice in words.choices:
            switches.put({key: choice})
            assert next(one.chosen for one in switches.shown(team_settings.everything()) if one.key == key) == choice

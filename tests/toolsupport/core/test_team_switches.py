"""The effect of each switch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.tables import every
from toolsupport.core.format_choice import FormatPreferences, judged, usable
from toolsupport.core.team_switches import SWITCHES, TeamSwitches
from toolsupport.core.types import Capabilities, Capability

GATES = ("asks_about_models", "detects", "learns", "translates", "allows_code_mode", "forces")


def test_out_of_the_box_everything_may_happen() -> None:
    assert all(getattr(TeamSwitches(), gate) for gate in GATES)
    assert TeamSwitches().on_drift == "ask"


# O6
@pytest.mark.parametrize("gate", GATES)
def test_filter_only_outranks_every_other_switch(gate: str) -> None:
    everything_on = TeamSwitches(filter_only=True, text_formats="all", drift="auto")
    assert not getattr(everything_on, gate)
    assert not everything_on.allows_text_format(works=True)
    assert everything_on.on_drift == "off"


# O6, F2
@pytest.mark.parametrize(
    ("chosen", "works", "allowed"),
    [
        *(("measured", True, True), ("measured", False, False)),
        *(("all", True, True), ("all", False, True)),
        *(("off", True, False), ("off", False, False)),
    ],
)
def test_text_formats_are_allowed_as_the_team_wants(chosen: str, works: bool, allowed: bool) -> None:
    assert TeamSwitches(text_formats=chosen).allows_text_format(works) is allowed  # type: ignore[arg-type]


# Every switch with each of its values → what it changes of what holds out of the box, and nothing else.
NATIVE_ONLY = {"text that works": False, "code that works": False}
CHANGES: dict[tuple[str, Any], dict[str, Any]] = {
    ("filter_only", True): NATIVE_ONLY
    | {gate: False for gate in GATES}
    | {"on_drift": "off", "on_first_use": "leave_out"},
    ("filter_only", False): {},
    ("text_formats", "measured"): {},
    ("text_formats", "all"): {"any text": True, "any code": True},
    ("text_formats", "off"): {"text that works": False},
    ("code_mode", True): {},
    ("code_mode", False): {"code that works": False, "allows_code_mode": False},
    ("force", True): {},
    ("force", False): {"forces": False},
    ("runtime_learning", True): {},
    ("runtime_learning", False): {"learns": False},
    ("drift", "off"): {"on_drift": "off"},
    ("drift", "ask"): {},
    ("drift", "auto"): {"on_drift": "auto"},
    ("first_use", "test"): {},
    ("first_use", "leave_out"): {"on_first_use": "leave_out"},
    ("first_use", "refuse"): {"on_first_use": "refuse"},
    ("only_validated_fallbacks", True): {"only_validated_fallbacks": True},
    ("only_validated_fallbacks", False): {},
    ("tools_notice", True): {"tools_notice": True},
    ("tools_notice", False): {},
    ("startup_refresh", True): {},
    ("startup_refresh", False): {"startup_refresh": False},
}
OTHER_SWITCHES = ("on_drift", "on_first_use", "only_validated_fallbacks", "tools_notice", "startup_refresh")


def all_that_holds(switches: TeamSwitches) -> dict[str, Any]:
    """The answer of every gate, and the formats in which models that are known to write them are offered tools."""

    def offered(works: bool, name: str) -> bool:
        values = {"tools": False, "format": name if works else None}
        known = Capabilities({key: Capability(key, value, "declared", "Said.") for key, value in values.items()})
        preferences = FormatPreferences(switches=switches, code_tool=True)
        return name in usable(judged(known, preferences))

    return {
        **{gate: getattr(switches, gate) for gate in (*GATES, *OTHER_SWITCHES)},
        "text that works": offered(True, "hermes"),
        "any text": offered(False, "hermes"),
        "code that works": offered(True, "code_mode"),
        "any code": offered(False, "code_mode"),
    }


# O6
@every("chosen, changes", CHANGES.items())
def test_each_switch_changes_what_its_name_says_and_nothing_else(
    chosen: tuple[str, Any], changes: dict[str, Any]
) -> None:
    before, after = all_that_holds(TeamSwitches()), all_that_holds(replace(TeamSwitches(), **dict([chosen])))
    assert {name: value for name, value in after.items() if value != before[name]} == changes


def test_the_table_has_every_switch_with_every_value() -> None:
    assert set(CHANGES) == {(switch.name, value) for switch in SWITCHES for value in switch.values.values()}


@pytest.mark.parametrize("drift", ["off", "ask", "auto"])
def test_drift_is_met_as_chosen(drift: str) -> None:
    assert TeamSwitches(drift=drift).on_drift == drift  # type: ignore[arg-type]

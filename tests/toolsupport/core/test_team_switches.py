"""What each switch lets happen."""

from __future__ import annotations

import pytest

from toolsupport.core.team_switches import TeamSwitches

GATES = ("asks_about_models", "detects", "learns", "translates", "allows_code_mode")


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


# O6
def test_each_switch_closes_its_own_gate_only() -> None:
    closed = {
        "learns": TeamSwitches(runtime_learning=False),
        "allows_code_mode": TeamSwitches(code_mode=False),
    }
    for name, switches in closed.items():
        assert [gate for gate in GATES if not getattr(switches, gate)] == [name]


@pytest.mark.parametrize("drift", ["off", "ask", "auto"])
def test_drift_is_met_as_chosen(drift: str) -> None:
    assert TeamSwitches(drift=drift).on_drift == drift  # type: ignore[arg-type]

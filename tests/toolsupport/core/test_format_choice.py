"""Which format a model is offered tools in, and why none of the others."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.format_choice import FormatPreferences, if_refused, judged, label, names, usable
from toolsupport.core.team_switches import TeamSwitches
from toolsupport.core.types import Capabilities, Capability

ALL = TeamSwitches(text_formats="all")
OFF = TeamSwitches(text_formats="off")


def known(**values: Any) -> Capabilities:
    return Capabilities(
        {name: Capability(name, value, "declared", f"Said of {name}.") for name, value in values.items()}
    )


def first(capabilities: Capabilities, preferences: FormatPreferences) -> str:
    return next(iter(usable(judged(capabilities, preferences))), "")


CASES: dict[str, tuple[dict[str, Any], FormatPreferences, str]] = {  # F2
    "native where it works": ({"tools": True}, FormatPreferences(), "native"),
    "native before a text format that works too": ({"tools": True, "format": "hermes"}, FormatPreferences(), "native"),
    "what was measured": ({"tools": False, "format": "hermes"}, FormatPreferences(), "hermes"),
    "nothing without a measurement": ({"tools": False, "call_format": "hermes"}, FormatPreferences(), ""),
    "for all: what the family was taught": (
        {"tools": False, "call_format": "hermes"},
        FormatPreferences(switches=ALL),
        "hermes",
    ),
    "for all is not for what is unknown": ({"call_format": "hermes"}, FormatPreferences(switches=ALL), ""),
    "measured, though native is unknown": ({"format": "hermes"}, FormatPreferences(), "hermes"),
    "switched off by the team": ({"tools": False, "format": "hermes"}, FormatPreferences(switches=OFF), ""),
    "filter only": (
        {"tools": False, "format": "hermes"},
        FormatPreferences(switches=TeamSwitches(filter_only=True)),
        "",
    ),
    "filter only leaves native": (
        {"tools": True},
        FormatPreferences(switches=TeamSwitches(filter_only=True)),
        "native",
    ),
    "switched off for this model": (
        {"tools": True, "format": "hermes"},
        FormatPreferences(disabled=frozenset({"native"})),
        "hermes",
    ),
    "a wish for text where native works": ({"tools": True}, FormatPreferences(preferred=("hermes",)), "hermes"),
    "a wish proves nothing": ({"tools": False}, FormatPreferences(preferred=("hermes",)), ""),
    "a wish for native makes no ability": ({"tools": False}, FormatPreferences(preferred=("native",)), ""),
    "an unknown wish is none": ({"tools": True}, FormatPreferences(preferred=("klingon",)), "native"),
}


@every("name", CASES)
def test_the_choice(name: str) -> None:
    values, preferences, expected = CASES[name]
    assert first(known(**values), preferences) == expected


anything = st.none() | st.booleans() | st.sampled_from(["hermes", "native", "x", ""])
wishes_of_any_kind = st.builds(
    FormatPreferences,
    st.lists(st.sampled_from(["hermes", "native", "x"]), max_size=3).map(tuple),
    st.frozensets(st.sampled_from(["hermes", "native"])),
    st.builds(
        TeamSwitches,
        filter_only=st.booleans(),
        text_formats=st.sampled_from(["measured", "all", "off"]),
        code_mode=st.booleans(),
    ),
    st.booleans(),
)


@given(st.fixed_dictionaries({"tools": anything, "format": anything, "call_format": anything}), wishes_of_any_kind)
def test_every_format_is_judged_once_with_a_reason(values: dict[str, Any], preferences: FormatPreferences) -> None:
    verdicts = judged(known(**values), preferences)
    assert sorted(verdict.name for verdict in verdicts) == sorted(names())
    assert all(verdict.reason and verdict.label == label(verdict.name) for verdict in verdicts)
    assert not any(verdict.usable and verdict.name in preferences.disabled for verdict in verdicts)
    if values["tools"] is not True:
        assert "native" not in usable(verdicts)


def decided(source: str, **others: Any) -> Capabilities:
    return Capabilities({**known(**others).values, "tools": Capability("tools", True, source, "Why.")})


@every(
    ("capabilities", "preferences", "expected"),
    [
        (decided("user_confirmed"), FormatPreferences(), "hermes"),
        (decided("session", call_format="mistral"), FormatPreferences(), "mistral"),
        (decided("session", call_format="mistral"), FormatPreferences(disabled=frozenset({"mistral"})), "hermes"),
        (decided("user_confirmed"), FormatPreferences(preferred=("pythonic",)), "pythonic"),
        (decided("user_confirmed"), FormatPreferences(preferred=("native", "code_mode")), "hermes"),
        (decided("auto_detected"), FormatPreferences(), ""),
        (decided("declared"), FormatPreferences(), ""),
        (decided("user_confirmed", format=False), FormatPreferences(), ""),
        (decided("user_confirmed"), FormatPreferences(switches=OFF), ""),
        (known(tools=False, format="forced_json"), FormatPreferences(), "hermes"),
        (known(tools=False, format="forced_json", call_format="mistral"), FormatPreferences(), "mistral"),
        (known(format="forced_json", constrains="enforced"), FormatPreferences(preferred=("forced_json",)), "hermes"),
        (known(format="forced_json"), FormatPreferences(disabled=frozenset({"hermes"})), "mistral"),
        (known(tools=False, format="forced_json"), FormatPreferences(switches=OFF), ""),
        (known(tools=False), FormatPreferences(), ""),
    ],
)
def test_what_is_tried_where_a_server_refuses_what_a_person_decided(
    capabilities: Capabilities, preferences: FormatPreferences, expected: str
) -> None:  # K4
    assert if_refused(capabilities, preferences) == expected

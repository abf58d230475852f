"""The fold: who is believed, why, and that nothing is ever lost on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.families import FamilyProfile, find
from toolsupport.core.override_sources import SOURCES, STORED
from toolsupport.core.resolve import CAPABILITIES, OverrideRow, explain, resolve

NOW, THEN, CHAT, OTHER_CHAT = "build-now", "build-then", "chat-1", "chat-2"

YES = FamilyProfile("yes", ("yes",), ("a test",), tools=True, parallel=False, context=4096, refuses=("read_file",))
NO = replace(YES, name="no", tools=False)
SILENT = FamilyProfile("silent", ("silent",), ("a test",))


def claim(seq: int, value: Any, source: str, **changes: Any) -> OverrideRow:
    """A claim about tools on the build that runs now; `id` differs from `seq`, so that mixing them up shows."""
    at = "2026-11-12T10:00:00+00:00"
    written = OverrideRow(seq + 1000, seq, "tools", value, source, build_key=NOW, created_at=at)
    return replace(written, **changes)


def withdrawal(seq: int, target: OverrideRow, **changes: Any) -> OverrideRow:
    return claim(seq, None, "user_confirmed", withdraws=target.id, **changes)


def tools(*claims: OverrideRow, family: FamilyProfile | None = None, session: str = "") -> tuple[Any, str]:
    found = resolve(family, claims, NOW, session)["tools"]
    return found.value, found.source


# One claim of each rank, the lowest first, each saying the opposite of the one below.
PROFILE_NO = NO
STALE = claim(1, True, "auto_detected", build_key=THEN)
DECLARED = claim(2, False, "declared")
DETECTED = claim(3, True, "auto_detected")
CONFIRMED = claim(4, False, "user_confirmed", actor="Ana")
IN_CHAT = claim(5, True, "runtime_error", session=CHAT)
LADDER = [
    ([], (False, "profile")),
    ([STALE], (True, "auto_detected_stale")),
    ([STALE, DECLARED], (False, "declared")),
    ([STALE, DECLARED, DETECTED], (True, "auto_detected")),
    ([STALE, DECLARED, DETECTED, CONFIRMED], (False, "user_confirmed")),
    ([STALE, DECLARED, DETECTED, CONFIRMED, IN_CHAT], (True, "session")),
]


@pytest.mark.parametrize(("claims", "expected"), LADDER)
def test_each_rank_beats_the_one_below(claims: list[OverrideRow], expected: tuple[bool, str]) -> None:  # D3
    assert tools(*claims, family=PROFILE_NO, session=CHAT) == expected


@pytest.mark.parametrize(("claims", "expected"), LADDER)
def test_a_higher_rank_wins_though_it_is_older(claims: list[OverrideRow], expected: tuple[bool, str]) -> None:  # D3
    reversed_ages = [replace(one, seq=100 - one.seq) for one in claims]
    assert tools(*reversed_ages, family=PROFILE_NO, session=CHAT) == expected


def test_nothing_known_is_unknown_and_not_no() -> None:  # D1
    assert tools() == (None, "default")
    assert tools(family=SILENT) == (None, "default")


@pytest.mark.parametrize("family", [None, SILENT, YES])
def test_every_capability_is_there(family: FamilyProfile | None) -> None:  # D2
    values = resolve(family, [], NOW).values
    assert set(CAPABILITIES) <= set(values)
    assert all(capability.reason.endswith(".") for capability in values.values())
    assert all(name == capability.name for name, capability in values.items())


def test_the_keys_are_those_of_the_api() -> None:  # D2
    promised = ["tools", "format", "parallel", "streaming", "multi_turn", "leaves_alone", "thinking", "vision"]
    promised += ["tools_thinking", "max_tools", "prompt_style", "constrains", "constrains_patterns"]
    per_tool = ["tool:read_file", "tool:write_file", "tool:list_directory", "tool:edit_file", "tool:bash"]
    assert set(CAPABILITIES) == {*promised, *per_tool, "call_format", "context"}


def test_a_family_is_read_into_capabilities() -> None:
    values = resolve(find("qwen3:8b"), [], NOW)
    said = {name: capability.value for name, capability in values.values.items() if capability.known}
    assert said == {
        "tools": True,
        "parallel": True,
        "streaming": True,
        "thinking": True,
        "vision": False,
        "prompt_style": "hermes",
        "call_format": "hermes",
        "context": 40960,
    }


def test_the_format_a_family_was_taught_proves_nothing() -> None:  # F2
    capabilities = resolve(find("gemma3:1b"), [], NOW)
    assert capabilities["call_format"].value == "tool_code_python"
    assert not capabilities["format"].known


def test_a_false_of_the_family_is_a_no() -> None:
    assert resolve(YES, [], NOW)["parallel"].value is False


def test_tools_that_a_family_refuses_are_read_too() -> None:
    found = resolve(YES, [], NOW)
    assert (found["tool:read_file"].value, found["tool:read_file"].source) == ("refused", "profile")
    assert not found["tool:bash"].known


def test_a_tool_of_ones_own_has_a_capability_too() -> None:
    capabilities = resolve(None, [claim(1, "native", "auto_detected", capability="tool:my_tool")], NOW)
    assert capabilities["tool:my_tool"].value == "native"


def test_an_override_switches_off_as_well_as_on() -> None:  # D3
    assert tools(claim(1, False, "user_confirmed"), family=YES) == (False, "user_confirmed")
    assert tools(claim(1, True, "user_confirmed"), family=NO) == (True, "user_confirmed")


def test_the_newest_of_a_rank_wins() -> None:  # D3
    assert tools(claim(1, True, "user_confirmed"), claim(2, False, "user_confirmed")) == (False, "user_confirmed")


def test_withdrawing_lets_the_former_one_show_again() -> None:  # D3
    first, second = claim(1, True, "user_confirmed"), claim(2, False, "user_confirmed")
    assert tools(first, second, withdrawal(3, second)) == (True, "user_confirmed")
    assert tools(first, second, withdrawal(3, second), withdrawal(4, first), family=NO) == (False, "profile")


def test_withdrawing_a_withdrawal_restores() -> None:
    said = claim(1, True, "user_confirmed")
    undo = withdrawal(2, said)
    redo = withdrawal(3, undo)
    assert tools(said, undo) == (None, "default")
    assert tools(said, undo, redo) == (True, "user_confirmed")
    assert tools(said, undo, redo, withdrawal(4, redo)) == (None, "default")


def test_a_proposal_changes_nothing() -> None:  # D10
    said = claim(1, True, "user_confirmed")
    assert tools(said, claim(2, False, "user_confirmed", proposed=True)) == (True, "user_confirmed")
    assert tools(said, withdrawal(2, said, proposed=True)) == (True, "user_confirmed")


def test_a_row_without_a_value_is_no_no() -> None:  # D1
    assert tools(claim(1, None, "user_confirmed"), family=YES) == (True, "profile")


def test_a_conversation_decides_for_itself_alone() -> None:  # D3
    said, here = claim(1, True, "user_confirmed"), claim(2, False, "runtime_error", session=CHAT)
    assert tools(said, here, session=CHAT) == (False, "session")
    assert tools(said, here, session=OTHER_CHAT) == (True, "user_confirmed")
    assert tools(said, here) == (True, "user_confirmed")


def test_a_withdrawal_of_one_conversation_counts_there_alone() -> None:
    said = claim(1, True, "user_confirmed")
    here = withdrawal(2, said, session=CHAT)
    assert tools(said, here, session=CHAT) == (None, "default")
    assert tools(said, here) == (True, "user_confirmed")


def test_a_runtime_error_outside_a_conversation_has_no_rank() -> None:  # D9
    assert tools(claim(1, False, "runtime_error"), family=YES) == (True, "profile")


def test_what_was_measured_goes_stale_with_its_build() -> None:  # M3
    found = resolve(None, [STALE], NOW)["tools"]
    assert (found.value, found.source, found.stale) == (True, "auto_detected_stale", True)
    assert not resolve(None, [DETECTED], NOW)["tools"].stale


def test_what_a_person_decided_stays_and_says_its_age() -> None:  # M3
    found = resolve(None, [replace(CONFIRMED, build_key=THEN), DETECTED], NOW)["tools"]
    assert (found.value, found.source, found.stale) == (False, "user_confirmed", True)
    assert "set for an older build" in found.reason


def test_since_and_row_are_those_of_the_row_in_force() -> None:
    found = resolve(YES, [DECLARED, DETECTED], NOW)["tools"]
    assert (found.since, found.override) == (DETECTED.created_at, DETECTED.id)
    assert (resolve(YES, [], NOW)["tools"].since, resolve(YES, [], NOW)["tools"].override) == ("", None)


ANA = claim(1, True, "user_confirmed", actor="Ana", created_at="2026-11-03T23:59:00Z")
LATER = claim(9, False, "user_confirmed", actor="Ben", created_at="2026-11-14T08:00:00Z")

REASONS = [
    ([ANA, DECLARED], None, "", "Ana's override of 3 Nov 2026 overrides the server's claim of 12 Nov 2026."),
    (
        [ANA, LATER, DETECTED],
        YES,
        "",
        "Ben's override of 14 Nov 2026 overrides Ana's override of 3 Nov 2026, "
        "the test of 12 Nov 2026 and the profile of yes models.",
    ),
    ([replace(ANA, actor="ben-k")], None, "", "ben-k's override of 3 Nov 2026 is the only source."),
    ([DECLARED], None, "", "The server's claim of 12 Nov 2026 is the only source."),
    ([STALE], NO, "", "The test of 12 Nov 2026 on an older build overrides the profile of no models."),
    (
        [ANA, IN_CHAT],
        None,
        CHAT,
        "The setting of this chat (an error in a chat of 12 Nov 2026) overrides Ana's override of 3 Nov 2026.",
    ),
    (
        [replace(ANA, build_key=THEN)],
        None,
        "",
        "Ana's override of 3 Nov 2026 is the only source. It was set for an older build.",
    ),
    ([], YES, "", "The family table says yes models call tools natively (profile)."),
    ([], NO, "", "The family table says no models do not call tools natively (profile)."),
    ([], None, "", "There is no evidence about native tools."),
    (
        [],
        SILENT,
        "",
        "There is no evidence about native tools, and the profile of silent models has no value.",
    ),
    ([replace(DECLARED, created_at="long ago")], None, "", "The server's claim of long ago is the only source."),
    ([replace(DECLARED, created_at="")], None, "", "The server's claim is the only source."),
]


@every(("claims", "family", "session", "reason"), REASONS)
def test_the_reason_names_what_is_in_force_and_what_it_overrides(
    claims: list[OverrideRow], family: FamilyProfile | None, session: str, reason: str
) -> None:  # D3
    assert resolve(family, claims, NOW, session)["tools"].reason == reason


def test_every_claim_is_explained_the_one_in_force_first() -> None:
    proposal = claim(6, True, "user_confirmed", proposed=True)
    undone = claim(7, True, "declared")
    elsewhere = claim(9, True, "runtime_error", session=OTHER_CHAT)
    said = [STALE, DECLARED, DETECTED, CONFIRMED, proposal, undone, withdrawal(8, undone), elsewhere]
    entries = explain(NO, said, NOW)["tools"]
    assert [(entry.claim, entry.state) for entry in entries[:5]] == [
        (CONFIRMED, "in_force"),
        (DETECTED, "overridden"),
        (DECLARED, "overridden"),
        (STALE, "overridden"),
        (None, "overridden"),
    ]
    assert {(entry.claim, entry.state) for entry in entries[5:]} == {
        (proposal, "proposed"),
        (undone, "withdrawn"),
        (elsewhere, "other_chat"),
    }


# Properties: any history of a model.


@st.composite
def histories(draw: st.DrawFn) -> list[OverrideRow]:
    """Claims about two capabilities as the registry may write them, numbered in order."""
    claims: list[OverrideRow] = []
    for seq in range(1, draw(st.integers(0, 8)) + 1):
        target = draw(st.sampled_from([None, None, *[one.id for one in claims]]))
        written = claim(
            seq,
            None if target else draw(st.sampled_from([True, False, None])),
            draw(st.sampled_from(STORED)),
            capability=draw(st.sampled_from(["tools", "vision"])),
            session=draw(st.sampled_from(["", "", CHAT, OTHER_CHAT])),
            build_key=draw(st.sampled_from([NOW, THEN])),
            proposed=draw(st.integers(0, 4)) == 0,
            withdraws=target,
        )
        claims.append(written)
    return claims


families = st.sampled_from([None, SILENT, YES, NO])
sessions = st.sampled_from(["", CHAT])


def plain(capabilities: Any) -> dict[str, tuple[Any, str]]:
    return {name: (capability.value, capability.source) for name, capability in capabilities.values.items()}


def slow_fold(family: FamilyProfile | None, claims: list[OverrideRow], session: str) -> tuple[Any, str]:
    """The rules of D3 once more, written rank by rank."""
    seen = [one for one in claims if one.session in ("", session) and not one.proposed]

    def stands(one: OverrideRow) -> bool:
        return not any(later.withdraws == one.id and stands(later) for later in seen)

    said = [one for one in seen if one.capability == "tools" and one.value is not None and stands(one)]
    everyone = [one for one in said if not one.session]
    ranks = {
        "session": [one for one in said if one.session],
        "user_confirmed": [one for one in everyone if one.source == "user_confirmed"],
        "auto_detected": [one for one in everyone if one.source == "auto_detected" and one.build_key == NOW],
        "declared": [one for one in everyone if one.source == "declared"],
        "auto_detected_stale": [one for one in everyone if one.source == "auto_detected" and one.build_key == THEN],
    }
    for source, candidates in ranks.items():
        if candidates:
            return max(candidates, key=lambda one: one.seq).value, source
    known = family is not None and family.tools is not None
    return (family.tools, "profile") if family and known else (None, "default")


@given(families, histories(), sessions)
def test_the_fold_follows_the_precedence(
    family: FamilyProfile | None, claims: list[OverrideRow], session: str
) -> None:  # D3
    assert tools(*claims, family=family, session=session) == slow_fold(family, claims, session)


@given(families, histories(), sessions, st.randoms())
def test_the_order_in_which_rows_are_read_does_not_matter(
    family: FamilyProfile | None, claims: list[OverrideRow], session: str, random: Any
) -> None:
    shuffled = random.sample(claims, len(claims))
    assert resolve(family, shuffled, NOW, session).values == resolve(family, claims, NOW, session).values


@given(families, histories(), sessions)
def test_rows_about_another_capability_change_nothing(
    family: FamilyProfile | None, claims: list[OverrideRow], session: str
) -> None:
    kept = {one.id for one in claims if one.capability == "tools"}
    withdrawing = [one for one in claims if one.withdraws]
    about_tools = [one for one in claims if one.id in kept or one in withdrawing]
    assert tools(*about_tools, family=family, session=session) == tools(*claims, family=family, session=session)


@given(families, histories().filter(bool), sessions)
def test_withdrawing_the_last_row_gives_back_what_was(
    family: FamilyProfile | None, claims: list[OverrideRow], session: str
) -> None:  # D3
    *before, last = claims
    undo = withdrawal(last.seq + 1, last, session=last.session)
    after = resolve(family, [*claims, undo], NOW, session)
    assert plain(after) == plain(resolve(family, before, NOW, session))


@given(families, histories(), sessions)
def test_unknown_never_becomes_no(family: FamilyProfile | None, claims: list[OverrideRow], session: str) -> None:  # D1
    somebody_said_no = family is NO or any(one.value is False for one in claims if one.capability == "tools")
    value, _ = tools(*claims, family=family, session=session)
    assert value is not False or somebody_said_no


@given(families, histories(), st.sampled_from([True, False]))
def test_a_machine_never_outranks_a_person(
    family: FamilyProfile | None, claims: list[OverrideRow], decided: bool
) -> None:  # D3
    machines = [one for one in claims if one.source != "user_confirmed" and not one.session and not one.withdraws]
    person = claim(0, decided, "user_confirmed")
    assert tools(person, *machines, family=family) == (decided, "user_confirmed")


@given(families, histories(), st.sampled_from([True, False]))
def test_the_newest_decision_of_a_person_can_always_switch(
    family: FamilyProfile | None, claims: list[OverrideRow], decided: bool
) -> None:  # D3
    assert tools(*claims, claim(99, decided, "user_confirmed"), family=family) == (decided, "user_confirmed")


@given(families, histories())
def test_other_conversations_do_not_exist(family: FamilyProfile | None, claims: list[OverrideRow]) -> None:
    without = [one for one in claims if one.session != OTHER_CHAT]
    assert resolve(family, claims, NOW, CHAT).values == resolve(family, without, NOW, CHAT).values


@given(families, histories(), sessions)
def test_the_explanation_agrees_with_the_value(
    family: FamilyProfile | None, claims: list[OverrideRow], session: str
) -> None:
    capabilities = resolve(family, claims, NOW, session)
    explained = explain(family, claims, NOW, session)
    for name, capability in capabilities.values.items():
        in_force = [entry for entry in explained.get(name, ()) if entry.state == "in_force"]
        assert [(entry.value, entry.source) for entry in in_force] == (
            [(capability.value, capability.source)] if capability.source != "default" else []
        )


@given(families, histories(), sessions)
def test_every_source_and_reason_can_be_shown(
    family: FamilyProfile | None, claims: list[OverrideRow], session: str
) -> None:
    for capability in resolve(family, claims, NOW, session).values.values():
        assert capability.source in SOURCES
        assert capability.reason.endswith(".")
        assert capability.source == "default" or capability.known

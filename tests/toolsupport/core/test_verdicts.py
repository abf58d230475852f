"""From outcomes to a verdict: what counts, what never does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsupport.core.verdicts import (
    CODES,
    MOST,
    VERDICTS,
    Outcome,
    format_settled,
    format_works,
    judge,
    sure,
    wanted,
)

BARE = Outcome("accepted", "right", subject="bare")
TAKEN = Outcome("accepted", "right", subject="tools")
OPEN = (BARE, TAKEN)


def called(*codes: str, streamed: bool | None = None) -> tuple[Outcome, ...]:
    return tuple(
        Outcome("called", code, f"why {code}", n % 2 == 0 if streamed is None else streamed)
        for n, code in enumerate(codes)
    )


def formats(name: str, *codes: str) -> tuple[Outcome, ...]:
    return tuple(Outcome("formats", code, subject=name) for code in codes)


CASES = {  # D6
    "native": ((*OPEN, *called("right", "right", "right")), "native", True),
    "ignored": ((*OPEN, *called("no_call", "no_call", "no_call")), "ignored", False),
    "flaky enough": ((*OPEN, *called(*["right"] * 6, *["no_call"] * 3)), "flaky", True),
    "flaky, too little": ((*OPEN, *called("right", *["no_call"] * 4)), "flaky", False),
    "calls, but never right": ((*OPEN, *called("malformed", "unknown_tool", "not_copied")), "flaky", False),
    "refused": ((BARE, Outcome("accepted", "refused", "no tools", subject="tools")), "refused", False),
    "refused without the bare one": ((Outcome("accepted", "refused", "x", subject="tools"),), "inconclusive", None),
    "a flag is missing": (
        (BARE, Outcome("accepted", "misconfigured", "set --jinja", subject="tools", flag="--jinja")),
        "misconfigured",
        None,
    ),
    "dead server": ((Outcome("accepted", "failed", "no connection", subject="bare"),), "inconclusive", None),
    "died between": ((BARE, Outcome("accepted", "failed", "x", subject="tools")), "inconclusive", None),
    "only timeouts": ((*OPEN, *called(*["timeout"] * MOST)), "inconclusive", None),
    "two right, then gone": ((*OPEN, *called("right", "right", *["failed"] * 7)), "inconclusive", None),
    "left in the text": (
        (*OPEN, *(Outcome("called", "in_text", "set it", flag="--tool-call-parser") for _ in range(3))),
        "misconfigured",
        None,
    ),
    "nothing tried": ((), "inconclusive", None),
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts(name: str) -> None:
    outcomes, verdict, tools = CASES[name]
    judged = judge(outcomes)
    assert (judged.name, judged.values.get("tools")) == (verdict, tools)
    assert judged.name in VERDICTS and (judged.reason or not outcomes)


@pytest.mark.parametrize("streams", [True, False])
def test_streaming_is_a_finding_of_its_own(streams: bool) -> None:  # D6
    codes = ("right", "no_call") if streams else ("no_call", "right")
    outcomes = (*OPEN, *called(*codes * 4))
    judged = judge(outcomes)
    assert sure(outcomes)
    assert (judged.name, judged.values["tools"], judged.values["streaming"]) == ("native", True, streams)


def test_two_of_four_are_no_finding_about_streaming() -> None:  # D6
    codes = ("no_call", "right")
    for pairs in (1, 2, 3):
        outcomes = (*OPEN, *called(*codes * pairs))
        assert not sure(outcomes)
        assert "streaming" not in judge(outcomes).values
    mixed = (*OPEN, *called(*codes * 3, "right", "no_call", "right"))
    assert (judge(mixed).name, "streaming" in judge(mixed).values) == ("flaky", False)


def thinking(*codes: str, think: bool) -> tuple[Outcome, ...]:
    return tuple(Outcome("called", code, f"why {code}", n % 2 == 0, think=think) for n, code in enumerate(codes))


RIGHT, NONE, CUT, LATE, BROKEN = (["right"] * 3, ["no_call"] * 5, ["cut"] * 5, ["timeout"] * 5, ["failed"] * 5)
# Trials with thinking on, with thinking off → the verdict, tools, tools_thinking.
SETTINGS = {  # D6
    "both": (RIGHT, RIGHT, "native", True, "both"),
    "only off": (NONE, RIGHT, "native", True, "off_only"),
    "only on": (RIGHT, NONE, "native", True, "on_only"),
    "cut while it thought": (CUT, RIGHT, "native", True, "off_only"),
    "never done thinking": (LATE, RIGHT, "native", True, "off_only"),
    "too rarely with thinking on": (["right", *NONE], RIGHT, "native", True, "off_only"),
    "the server failed with thinking on": (BROKEN, RIGHT, "native", True, None),
    "one trial was cut": (["cut", "failed"], RIGHT, "native", True, None),
    "neither": (NONE, NONE, "ignored", False, None),
    "no with thinking off, cut with it on": (CUT, NONE, "inconclusive", None, None),
    "no with thinking on, broken with it off": (NONE, BROKEN, "inconclusive", None, None),
    "nothing proved": (CUT, BROKEN, "inconclusive", None, None),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_thinking_on_and_off_are_judged_apart(name: str) -> None:
    on, off, verdict, tools, found = SETTINGS[name]
    judged = judge((*OPEN, *thinking(*off, think=False), *thinking(*on, think=True)))
    assert (judged.name, judged.values.get("tools"), judged.values.get("tools_thinking")) == (verdict, tools, found)
    assert "With thinking on" in judged.reason and judged.detail["thinking"]


def test_each_setting_of_thinking_is_sampled_until_it_is_sure() -> None:
    off = (*OPEN, *thinking("right", "right", "right", think=False))
    assert sure(off, False) and not sure(off, True)


def test_text_is_a_no_with_a_format() -> None:
    refused = (BARE, Outcome("accepted", "refused", "no tools", subject="tools"))
    judged = judge((*refused, *formats("mistral", "right", "no_call"), *formats("hermes", "right", "right")))
    assert (judged.name, dict(judged.values)) == ("text", {"tools": False, "format": "hermes"})
    assert judge((*refused, *formats("hermes", "right"))).name == "refused"


def test_formats_alone_say_nothing_about_native_tools() -> None:
    judged = judge(formats("hermes", "right", "right"))
    assert (judged.name, dict(judged.values)) == ("text", {"format": "hermes"})
    failed = judge(formats("hermes", "no_call"))
    assert (failed.name, dict(failed.values)) == ("inconclusive", {})


def test_a_text_format_that_works_now_and_then_needs_more_trials() -> None:
    assert not format_settled(formats("hermes", "right", "no_call"), "hermes")
    assert format_works(formats("hermes", *["right"] * 4, "no_call", "no_call"), "hermes")
    assert not format_works(formats("hermes", *["right"] * 3, *["no_call"] * 3), "hermes")
    assert format_settled(formats("hermes", "no_call"), "hermes")


def test_a_format_found_only_with_thinking_off_says_so() -> None:
    tried = (*formats("hermes", "cut"), *(Outcome("formats", "right", subject="hermes", think=False) for _ in range(2)))
    assert dict(judge(tried).values) == {"format": "hermes", "tools_thinking": "off_only"}


def test_a_greeting_answered_with_nothing_does_not_hide_the_calls() -> None:
    bare = Outcome("accepted", "no_word", subject="bare")
    assert judge((bare, TAKEN, *called("right", "right", "right"))).name == "native"
    assert judge((bare, Outcome("accepted", "refused", "no tools", subject="tools"))).name == "refused"


def test_empty_replies_to_every_demand_prove_nothing() -> None:  # D6
    outcomes = (*OPEN, *called(*["no_word"] * 5))
    assert sure(outcomes)
    assert (judge(outcomes).name, dict(judge(outcomes).values)) == ("inconclusive", {})


def test_it_stops_when_sure() -> None:
    assert not sure((*OPEN, *called("right", "right")))
    assert sure((*OPEN, *called("right", "right", "right")))
    assert not sure((*OPEN, *called("right", "no_call", "right")))
    assert sure((*OPEN, *called("no_call", "right", "no_call", "no_call", "no_call")))
    assert sure((*OPEN, *called(*["timeout"] * MOST)))


def test_what_is_not_needed_is_not_tried() -> None:
    refused = (BARE, Outcome("accepted", "refused", "no tools", subject="tools"))
    native = (*OPEN, *called("right", "right", "right"))
    assert not wanted("called", refused) and wanted("formats", refused) and not wanted("control", refused)
    assert wanted("control", native) and wanted("per_tool", native) and not wanted("formats", native)
    dead = (Outcome("accepted", "failed", "dead", subject="bare"),)
    assert not any(wanted(step, dead) for step in ("called", "control", "formats", "per_tool"))
    assert wanted("formats", ()) and wanted("per_tool", ())


SILENT = [code for code, passed in CODES.items() if passed is None and code != "misconfigured"]
outcome = st.builds(
    Outcome,
    st.sampled_from(["declared", "accepted", "rendered", "called", "second_turn", "control", "parallel", "formats"]),
    st.sampled_from([code for code in CODES if code != "misconfigured"]),
    st.just("why"),
    st.booleans(),
    st.sampled_from(["", "bare", "tools", "hermes"]),
)


@given(st.lists(outcome, max_size=20))
def test_silence_is_never_a_no(outcomes: list[Outcome]) -> None:  # D1, D6
    silent = [Outcome(o.step, SILENT[0], o.why, o.streamed, o.subject) for o in outcomes]
    assert dict(judge(silent).values) == {}
    assert judge(silent).name == "inconclusive"


@given(st.lists(outcome, max_size=20))
def test_inconclusive_measures_nothing_about_tools(outcomes: list[Outcome]) -> None:
    judged = judge(outcomes)
    assert ("tools" in judged.values) == (judged.name in ("native", "ignored", "refused", "flaky")) or (
        judged.name == "text"
    )
    assert judged.values.get("tools") in (True, False, None)


@given(st.lists(st.sampled_from(list(CODES)), min_size=1, max_size=40))
def test_trials_of_calling_end(codes: list[str]) -> None:
    assert sure((*OPEN, *called(*codes[:MOST], *["timeout"] * (MOST - len(codes)))))

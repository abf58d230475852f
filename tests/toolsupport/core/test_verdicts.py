"""From outcomes to a verdict: outcomes that count, and those that never do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.verdicts import (
    CODES,
    MOST,
    MOST_EACH_WAY,
    VERDICTS,
    TrialOutcome,
    acceptance_settled,
    format_settled,
    format_works,
    judge,
    sure,
    wanted,
)

BARE = TrialOutcome("accepted", "right", subject="bare")
TAKEN = TrialOutcome("accepted", "right", subject="tools")
OPEN = (BARE, TAKEN)


def called(*codes: str, streamed: bool | None = None) -> tuple[TrialOutcome, ...]:
    return tuple(
        TrialOutcome("called", code, f"why {code}", n % 2 == 0 if streamed is None else streamed)
        for n, code in enumerate(codes)
    )


def refused(times: int = 6, streamed: bool | None = None) -> tuple[TrialOutcome, ...]:
    ways = [n % 2 == 0 if streamed is None else streamed for n in range(times)]
    return tuple(TrialOutcome("accepted", "refused", "no tools", way, "tools") for way in ways)


def formats(name: str, *codes: str) -> tuple[TrialOutcome, ...]:
    return tuple(TrialOutcome("formats", code, subject=name) for code in codes)


CASES = {  # D6
    "native": ((*OPEN, *called("right", "right", "right")), "native", True),
    "ignored": ((*OPEN, *called(*["no_call"] * 5)), "ignored", False),
    "a no needs five": ((*OPEN, *called(*["no_call"] * 4)), "inconclusive", None),
    "one unfinished in nine": ((*OPEN, *called("timeout", *["no_call"] * 8)), "ignored", False),
    "one unfinished in six": ((*OPEN, *called("timeout", *["no_call"] * 5)), "inconclusive", None),
    "two unfinished in nine": ((*OPEN, *called("cut", "no_word", *["no_call"] * 7)), "inconclusive", None),
    **{
        f"three talked, six were {code}": ((*OPEN, *called(*[code, code, "no_call"] * 3)), "inconclusive", None)
        for code in ("no_word", "cut", "failed", "timeout")
    },
    "mixed, with many unfinished": (
        (*OPEN, *called("right", "no_call", "no_call", *["failed"] * 6)),
        "inconclusive",
        None,
    ),
    "right beside unfinished ones": (
        (*OPEN, *called("no_word", "right", "right", "right", "no_word")),
        "native",
        True,
    ),
    "flaky enough": ((*OPEN, *called(*["right"] * 6, *["no_call"] * 3)), "flaky", True),
    "flaky, too little": ((*OPEN, *called("right", *["no_call"] * 4)), "flaky", False),
    "calls, but never right": ((*OPEN, *called("malformed", "unknown_tool", *["not_copied"] * 3)), "flaky", False),
    "refused": ((BARE, *refused()), "refused", False),
    "refused once": ((BARE, *refused(1)), "inconclusive", None),
    "refused as often, but only streamed": ((BARE, *refused(6, streamed=True)), "inconclusive", None),
    "refused once, then taken": ((BARE, *refused(1), TAKEN, *called("right", "right", "right")), "native", True),
    "refused now and then": (
        (BARE, *refused(4), TAKEN, *called("failed", "no_call", "failed", "failed", "no_call")),
        "inconclusive",
        None,
    ),
    "refused without the bare one": (
        (TrialOutcome("accepted", "refused", "x", subject="tools"),),
        "inconclusive",
        None,
    ),
    "a flag is missing": (
        (BARE, TrialOutcome("accepted", "misconfigured", "set --jinja", subject="tools", flag="--jinja")),
        "misconfigured",
        None,
    ),
    "dead server": ((TrialOutcome("accepted", "failed", "no connection", subject="bare"),), "inconclusive", None),
    "died between": ((BARE, TrialOutcome("accepted", "failed", "x", subject="tools")), "inconclusive", None),
    "only timeouts": ((*OPEN, *called(*["timeout"] * MOST)), "inconclusive", None),
    "two right, then gone": ((*OPEN, *called("right", "right", *["failed"] * 7)), "inconclusive", None),
    "left in the text": (
        (*OPEN, *(TrialOutcome("called", "in_text", "set it", flag="--tool-call-parser") for _ in range(3))),
        "misconfigured",
        None,
    ),
    "nothing tried": ((), "inconclusive", None),
}


@every("name", CASES)
def test_verdicts(name: str) -> None:
    outcomes, verdict, tools = CASES[name]
    judged = judge(outcomes)
    assert (judged.name, judged.values.get("tools")) == (verdict, tools)
    assert judged.name in VERDICTS and (judged.reason or not outcomes)


@pytest.mark.parametrize("streams", [True, False])
def test_streaming_is_a_finding_of_its_own(streams: bool) -> None:  # D6
    codes = ("right", "no_call") if streams else ("no_call", "right")
    assert not sure((*OPEN, *called(*codes * 5)))
    outcomes = (*OPEN, *called(*codes * 6))
    judged = judge(outcomes)
    assert sure(outcomes)
    assert (judged.name, judged.values["tools"], judged.values["streaming"]) == ("native", True, streams)


@pytest.mark.parametrize(("streamed", "found"), [(1, {}), (2, {"streaming": True})])
def test_one_streamed_call_is_no_finding_about_streaming(streamed: int, found: dict[str, bool]) -> None:  # D6
    made = [replace(outcome, streamed=n < streamed) for n, outcome in enumerate(called(*["right"] * 3))]
    assert dict(judge((*OPEN, *made)).values) == {"tools": True, **found}


LATER_CALLS = {  # D6: (later trials, whether they are streamed, whether calls can be streamed)
    "none": ((), True, True),
    "each arrived": (("parallel", "right", "only_one", "right"), True, True),
    "one of four was lost": (("parallel", "right", "none_made", "right", "right"), True, False),
    "one of nine was lost": (("parallel", *["right"] * 8, "none_made"), True, True),
    "two of ten were lost": (("parallel", *["right"] * 8, *["none_made"] * 2), True, False),
    "all were lost, which is about two calls": (("parallel", *["none_made"] * 3), True, True),
    "lost without streaming": (("parallel", "right", "none_made", "none_made"), False, True),
    "a file tool was called at times": (("per_tool", "right", "no_call", "no_call"), True, False),
    "a file tool was never called": (("per_tool", *["no_call"] * 7), True, True),
    "a file tool failed for another reason": (("per_tool", "right", "timeout", "cut"), True, True),
}


@every("name", LATER_CALLS)
def test_later_calls_count_as_streamed_ones(name: str) -> None:
    (step, *codes), streamed, streams = LATER_CALLS[name][0] or ("parallel",), *LATER_CALLS[name][1:]
    later = [TrialOutcome(step, code, streamed=streamed, subject="read_file") for code in codes]
    judged = judge((*OPEN, *called("right", "right", "right"), *later))
    assert (judged.name, judged.values.get("streaming")) == ("native", True if streams else None)


def test_two_of_four_are_no_finding_about_streaming() -> None:  # D6
    codes = ("no_call", "right")
    for pairs in (1, 2, 3, 4, 5):
        outcomes = (*OPEN, *called(*codes * pairs))
        assert not sure(outcomes)
        assert dict(judge(outcomes).values) == {}
    mixed = (*OPEN, *called(*codes * 3, "right", "no_call", "right"))
    assert (judge(mixed).name, "streaming" in judge(mixed).values) == ("flaky", False)


@pytest.mark.parametrize("lost", ["no_word", "failed", "cut", "timeout"])
def test_calls_that_are_lost_only_while_streaming_are_a_matter_of_streaming(lost: str) -> None:  # D6
    outcomes = (*OPEN, *called(*[lost, "right"] * 6))
    assert not sure(outcomes[:-2]) and sure(outcomes)
    assert dict(judge(outcomes).values) == {"tools": True, "streaming": False}
    assert "streaming" not in judge((*OPEN, *called(*[lost, "right"] * 3))).values


def test_thoughts_do_not_keep_a_no_open() -> None:  # D6
    thought = [replace(outcome, thought=True) for outcome in called(*["no_call"] * 5)]
    judged = judge((*OPEN, *thought))
    assert sure((*OPEN, *thought))
    assert (judged.name, dict(judged.values)) == ("ignored", {"tools": False})
    cut = [replace(outcome, thought=True) for outcome in called("cut", *["no_call"] * 4)]
    assert (judge((*OPEN, *cut)).name, dict(judge((*OPEN, *cut)).values)) == ("inconclusive", {})


def test_trials_in_which_the_switch_of_thinking_was_ignored_are_one_setting() -> None:  # D6
    def off(*codes: str) -> list[TrialOutcome]:
        return [replace(outcome, thought=True) for outcome in thinking(*codes, think=False)]

    assert dict(judge((*OPEN, *off(*RIGHT), *called(*NONE))).values) == {"tools": False}
    assert dict(judge((*OPEN, *off(*NONE), *called(*NONE))).values) == {"tools": False}
    assert dict(judge((*OPEN, *off(*RIGHT), *thinking(*RIGHT, think=True))).values) == {
        "tools": True,
        "streaming": True,
    }
    assert judge((*OPEN, *off(*CUT), *called(*CUT))).name == "inconclusive"
    once = [replace(outcome, thought=n == 0) for n, outcome in enumerate(thinking(*RIGHT, think=False))]
    assert judge((*OPEN, *once, *called(*NONE))).values["tools_thinking"] == "off_only"


def test_a_refusal_is_confirmed() -> None:  # D6
    assert not acceptance_settled(()) and acceptance_settled(OPEN)
    assert not acceptance_settled((BARE, *refused(5)))
    assert not acceptance_settled((BARE, *refused(6, streamed=True)))
    assert acceptance_settled((BARE, *refused(6)))
    assert acceptance_settled((BARE, *refused(2), TAKEN))
    assert acceptance_settled((BARE, TrialOutcome("accepted", "timeout", subject="tools")))
    assert not acceptance_settled((BARE, *refused(1), TrialOutcome("accepted", "timeout", subject="tools")))
    assert acceptance_settled((BARE, *refused(9, streamed=True)))


def thinking(*codes: str, think: bool) -> tuple[TrialOutcome, ...]:
    return tuple(TrialOutcome("called", code, f"why {code}", n % 2 == 0, think=think) for n, code in enumerate(codes))


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


@every("name", SETTINGS)
def test_thinking_on_and_off_are_judged_apart(name: str) -> None:
    on, off, verdict, tools, found = SETTINGS[name]
    judged = judge((*OPEN, *thinking(*off, think=False), *thinking(*on, think=True)))
    assert (judged.name, judged.values.get("tools"), judged.values.get("tools_thinking")) == (verdict, tools, found)
    assert "With thinking on" in judged.reason and judged.detail["thinking"]


def test_each_setting_of_thinking_is_sampled_until_it_is_sure() -> None:
    off = (*OPEN, *thinking("right", "right", "right", think=False))
    assert sure(off, False) and not sure(off, True)


def test_text_is_a_no_with_a_format() -> None:
    no = (BARE, *refused())
    judged = judge((*no, *formats("mistral", "right", "no_call"), *formats("hermes", "right", "right")))
    assert (judged.name, dict(judged.values)) == ("text", {"tools": False, "format": "hermes"})
    assert judge((*no, *formats("hermes", "right"))).name == "refused"


def test_formats_alone_say_nothing_about_native_tools() -> None:
    judged = judge(formats("hermes", "right", "right"))
    assert (judged.name, dict(judged.values)) == ("text", {"format": "hermes"})
    failed = judge(formats("hermes", "no_call"))
    assert (failed.name, dict(failed.values)) == ("inconclusive", {})


# Trials of one format, streamed and not in turn → whether it is settled, whether it works.
FORMAT_TRIALS: dict[str, tuple[list[str], bool, bool]] = {
    "right, right": (["right", "right"], True, True),
    "one right": (["right"], False, False),
    "mixed": (["right", "no_call"], False, False),
    "two of four": (["right", "right", "no_call", "no_call"], True, True),
    "one of four": (["right", "no_call", "no_call", "no_call"], True, False),
    "two failures": (["no_call", "no_call"], True, False),
    **{f"{code} once": ([code], False, False) for code in ("timeout", "cut", "no_word", "failed")},
    **{f"{code} three times": ([code] * 3, True, False) for code in ("timeout", "cut", "no_word")},
    "late once, then right": (["timeout", "right"], False, False),
    "late once, then right each way": (["timeout", "right", "right"], True, True),
    "late whenever streamed, so far": (["timeout", "right"] * 2, False, True),
    "only one way, so far": (["right", "no_call"] * 2, False, True),
    "only one way": (["right", "no_call"] * 4, True, True),
    "without end": (["right", *["timeout"] * 8], True, False),
}


@every("name", FORMAT_TRIALS)
def test_one_trial_never_settles_a_format(name: str) -> None:  # D6
    codes, over, works = FORMAT_TRIALS[name]
    tried = [replace(outcome, streamed=n % 2 == 0) for n, outcome in enumerate(formats("hermes", *codes))]
    assert (format_settled(tried, "hermes"), format_works(tried, "hermes")) == (over, works)


def test_the_first_format_of_a_family_is_left_later() -> None:
    assert not format_settled(formats("hermes", *["no_call"] * 3), "hermes", patience=4)
    assert format_settled(formats("hermes", *["no_call"] * 4), "hermes", patience=4)


def test_a_format_that_works_one_way_only_says_so() -> None:
    tried = [replace(one, streamed=n % 2 == 0) for n, one in enumerate(formats("hermes", *["no_call", "right"] * 4))]
    assert dict(judge(tried).values) == {"format": "hermes", "streaming": False}


def test_a_format_found_only_with_thinking_off_says_so() -> None:
    tried = (
        *formats("hermes", "cut"),
        *(TrialOutcome("formats", "right", subject="hermes", think=False) for _ in range(2)),
    )
    assert dict(judge(tried).values) == {"format": "hermes", "tools_thinking": "off_only"}


def test_a_greeting_answered_with_nothing_does_not_hide_the_calls() -> None:
    bare = TrialOutcome("accepted", "no_word", subject="bare")
    assert judge((bare, TAKEN, *called("right", "right", "right"))).name == "native"
    assert judge((bare, *refused())).name == "refused"


def test_empty_replies_to_every_demand_prove_nothing() -> None:  # D6
    outcomes = (*OPEN, *called(*["no_word"] * 5))
    assert sure(outcomes)
    assert (judge(outcomes).name, dict(judge(outcomes).values)) == ("inconclusive", {})


def test_a_tool_is_refused_only_by_a_model_that_calls_others() -> None:  # D13
    asked = [TrialOutcome("per_tool", "no_call", subject="read_file") for _ in range(7)]
    assert judge((*OPEN, *called("right", "right", "right"), *asked)).values["tool:read_file"] == "refused"
    assert "tool:read_file" not in judge((*OPEN, *called(*["no_call"] * 5), *asked)).values


@pytest.mark.parametrize("step", ["formats", "per_tool", "constrains"])
def test_a_test_of_a_part_needs_a_model_that_answers(step: str) -> None:
    assert wanted(step, [TrialOutcome("loaded", "right")]) and wanted(step, [TrialOutcome("loaded", "no_word")])
    for code in ("failed", "timeout", "connection_cut"):
        assert not wanted(step, [TrialOutcome("loaded", code)])


def test_streaming_is_named_as_the_reason_from_two_trials_each_way_on() -> None:  # D6
    reasons = [judge((*OPEN, *called(*["no_call", "right"] * pairs))).reason for pairs in (1, 2)]
    assert ["Called only in streamed answers, or only in others" in reason for reason in reasons] == [False, True]


def test_it_stops_when_sure() -> None:
    assert not sure((*OPEN, *called("right", "right")))
    assert sure((*OPEN, *called("right", "right", "right")))
    assert not sure((*OPEN, *called("right", "no_call", "right")))
    assert sure((*OPEN, *called("no_call", "right", "no_call", "no_call", "no_call")))
    assert sure((*OPEN, *called(*["timeout"] * MOST)))


def test_what_is_not_needed_is_not_tried() -> None:
    no = (BARE, *refused())
    native = (*OPEN, *called("right", "right", "right"))
    assert not wanted("called", no) and wanted("formats", no) and not wanted("control", no)
    assert wanted("control", native) and wanted("per_tool", native) and not wanted("formats", native)
    dead = (TrialOutcome("accepted", "failed", "dead", subject="bare"),)
    assert not any(wanted(step, dead) for step in ("called", "control", "formats", "per_tool"))
    assert wanted("formats", ()) and wanted("per_tool", ())


SILENT = [code for code, passed in CODES.items() if passed is None and code != "misconfigured"]
outcome = st.builds(
    TrialOutcome,
    st.sampled_from(["declared", "accepted", "rendered", "called", "second_turn", "control", "parallel", "formats"]),
    st.sampled_from([code for code in CODES if code != "misconfigured"]),
    st.just("why"),
    st.booleans(),
    st.sampled_from(["", "bare", "tools", "hermes"]),
)


@given(st.lists(outcome, max_size=20))
def test_silence_is_never_a_no(outcomes: list[TrialOutcome]) -> None:  # D1, D6
    silent = [TrialOutcome(o.step, SILENT[0], o.why, o.streamed, o.subject) for o in outcomes]
    assert dict(judge(silent).values) == {}
    assert judge(silent).name == "inconclusive"


@given(st.lists(outcome, max_size=20))
@example([TrialOutcome("second_turn", "right"), TrialOutcome("second_turn", "right")])
def test_inconclusive_measures_nothing_about_tools(outcomes: list[TrialOutcome]) -> None:
    judged = judge(outcomes)
    assert ("tools" in judged.values) == (judged.name in ("native", "ignored", "refused", "flaky")) or (
        judged.name == "text"
    )
    assert judged.values.get("tools") in (True, False, None)


@given(st.lists(st.sampled_from(list(CODES)), min_size=1, max_size=40))
def test_trials_of_calling_end(codes: list[str]) -> None:
    assert sure((*OPEN, *called(*codes[:MOST], *["timeout"] * (MOST_EACH_WAY - len(codes)))))

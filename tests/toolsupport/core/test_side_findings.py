"""Side findings: two trials agree for a yes, four for a no, mixed ones are unknown; sampling ends when it is sure."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.side_findings import (
    IN_DOUBT,
    MOST,
    STEPS,
    begun,
    decided,
    found,
    needed,
    settled,
    way_of,
)
from toolsupport.detection.probe_runner import AGREEING

Y, N = True, False
DECIDED = {  # D6
    "nothing": ([], None),
    "one pass": ([Y], None),
    "one failure": ([N], None),
    "two passes": ([Y, Y], True),
    "two failures": ([N, N], None),
    "three failures": ([N] * 3, None),
    "four failures": ([N] * 4, False),
    "one of each": ([Y, N], None),
    "two of three": ([Y, Y, N], None),
    "five of six": ([Y] * 5 + [N], None),
    "eight of nine": ([Y] * 8 + [N], True),
    "one of nine": ([N] * 8 + [Y], False),
    "eight of ten": ([Y] * 8 + [N] * 2, None),
}


@every("name", DECIDED)
def test_what_trials_prove(name: str) -> None:
    tried, value = DECIDED[name]
    assert decided(tried) is value


def tries(*codes: str, step: str = "parallel", subject: str = "") -> list[TrialOutcome]:
    return [TrialOutcome(step, code, subject=subject) for code in codes]


WAYS = {  # D13
    "native": (["right"] * 2, "native"),
    "once": (["right"], ""),
    "refused once": (["no_call"], ""),
    "refused": (["no_call"] * 7, "refused"),
    "refused, without a look at a shell": (["no_call"] * 4, ""),
    "by shell": (["no_call"] * 4 + ["via_bash"] * 3, "via_bash"),
    "by shell twice": (["no_call"] * 4 + ["via_bash", "via_bash"], ""),
    "by shell once": (["no_call"] * 4 + ["via_bash", "no_call"], ""),
    "now and then": (["no_call", "right", "no_call"], ""),
    "called beside a shell": (["no_call"] * 3 + ["right"], ""),
    "never answered": (["timeout"] * 3, ""),
}


@every("name", WAYS)
def test_how_a_file_tool_is_served(name: str) -> None:
    codes, way = WAYS[name]
    assert way_of(tries(*codes, step="per_tool", subject="read_file"), "read_file") == way


SETTLED = {
    "passes enough": (["right"] * 4, True),
    "passes, too few": (["right"] * 3, False),
    "failures are sampled longer": (["only_one"] * 7, False),
    "failures enough": (["only_one"] * 8, True),
    "one dissents": (["right", "only_one", "right"], False),
    "one against eleven": (["only_one", *["right"] * 11], False),
    "one against twelve": (["only_one", *["right"] * 12], True),
    "mixed": (["right", "only_one", "right", "only_one"], True),
    "nothing said": (["none_made"] * 3, True),
    "nothing said yet": (["none_made"] * 2, False),
    "too many": (["right", "right", *["timeout"] * (MOST - 2)], True),
}


@every("name", SETTLED)
def test_how_long_a_step_samples(name: str) -> None:
    codes, over = SETTLED[name]
    assert settled(tries(*codes), "parallel", 4) is over


ALONE = {
    "two greetings": ([Y] * 2, None),
    "three greetings": ([Y] * 3, True),
    "one call in nine": ([Y] * 8 + [N], None),
    "three calls": ([N] * 3, None),
    "four calls": ([N] * 4, False),
    "eight calls in nine": ([N] * 8 + [Y], False),
}


@pytest.mark.parametrize("name", ALONE)
def test_leaving_tools_alone_allows_no_call(name: str) -> None:  # D6
    tried, value = ALONE[name]
    assert decided(tried, "control") is value
    assert settled(tries(*["right"] * 5, step="control"), "control", 3) is False
    assert settled(tries(*["right"] * 6, step="control"), "control", 3) is True
    assert settled(tries("right", "called_for_nothing", "right", step="control"), "control", 3) is True


def test_a_model_that_did_not_always_call_is_sampled_more() -> None:
    reliable, mixed = tries("right", "right", step="called"), tries("right", "no_call", step="called")
    assert needed(reliable, 2) == 2 < needed(mixed, 2)
    settings = [TrialOutcome("called", "right", think=False), TrialOutcome("called", "no_call", think=True)]
    assert needed(settings, 2) == 2


def test_any_finding_that_is_mixed_makes_all_others_need_more() -> None:
    for mixed in (tries("right", "only_one"), tries("right", "no_call", step="per_tool", subject="read_file")):
        assert needed([*tries("right", "right", step="second_turn"), *mixed], 2) == 5
    different = [
        *tries("no_call", step="per_tool", subject="read_file"),
        *tries("right", step="per_tool", subject="bash"),
    ]
    assert needed(different, 2) == 2


BEGUN = {
    "one": (["right"], "parallel", False),
    "two agree": (["right"] * 2, "parallel", True),
    "two fail": (["only_one"] * 2, "parallel", True),
    "two differ": (["right", "only_one"], "parallel", False),
    "three differ": (["right", "only_one", "right"], "parallel", True),
    "two greetings": (["right"] * 2, "control", False),
    "three greetings": (["right"] * 3, "control", True),
    "silence": (["timeout"] * 3, "parallel", True),
}


@every("name", BEGUN)
def test_the_first_round_tries_each_finding_as_often_as_it_needs(name: str) -> None:
    codes, step, over = BEGUN[name]
    assert begun(tries(*codes, step=step), step) is over


def test_a_file_tool_needs_two_passes_less_unless_trials_differ() -> None:
    passes = [tries(*["right"] * times, step="per_tool", subject="a") for times in range(7)]
    assert [settled(made, "per_tool", 6, "a") for made in passes] == [False] * 4 + [True] * 3
    assert not settled(passes[6], "per_tool", 6 + IN_DOUBT, "a")
    assert needed([*passes[4], *tries("right", "no_call", step="called")], 6) == 6 + IN_DOUBT


def test_unknown_is_left_out() -> None:
    outcomes = [
        *tries(*["right"] * 3, step="second_turn"),
        *tries(*["called_for_nothing"] * 4, step="control"),
        *tries("right", "only_one"),
        *tries("right", step="per_tool", subject="read_file"),
    ]
    assert found(outcomes) == {"multi_turn": True, "leaves_alone": False}


@given(st.lists(st.sampled_from(["right", "only_one", "none_made", "timeout"]), max_size=MOST))
def test_every_step_ends_and_one_trial_never_decides(codes: list[str]) -> None:
    assert settled(tries(*codes, *["timeout"] * (MOST - len(codes))), "parallel", 5)
    values = found(tries(*codes))
    assert set(values) <= set(STEPS.values())
    counted = [code for code in codes if code in ("right", "only_one")]
    if values:
        assert len(counted) >= 2 and counted.count("right") != counted.count("only_one")


def halves(step: str, agreeing: int) -> Counter[bool | None]:
    """What is found of a model that succeeds half of the time, over every course a test can take, in parts of 2**14."""
    found: Counter[bool | None] = Counter()
    courses: list[list[str]] = [[]]
    while courses:
        course = courses.pop()
        if settled(tries(*course, step=step), step, agreeing):
            found[decided([code == "right" for code in course], step)] += 2 ** (MOST - len(course))
        else:
            courses += [[*course, "right"], [*course, "only_one"]]
    return found


def test_one_of_a_hundred_costs_an_honest_model_two_more_requests() -> None:
    """Whatever the rule: one that takes n passes for a yes takes a half for one in 1 of 2**n tests."""
    now = AGREEING[0][1]
    for agreeing in range(5, 9):
        assert halves("parallel", agreeing)[True] >= 2 ** (MOST - agreeing)
    assert halves("parallel", now)[True] > 2**MOST / 100 > halves("parallel", now + 1)[True]


# A model that does one thing half of the time hardly ever does all others alike: then each needs more that agree.
@pytest.mark.parametrize(
    ("seconds", "more", "most"), [(0.2, 0, 0.022), (1.5, 0, 0.022), (9.0, 0, 0.038), (0.2, 3, 0.01), (9.0, 3, 0.01)]
)
def test_half_a_success_is_seldom_taken_for_a_success(seconds: float, more: int, most: float) -> None:
    agreeing = next(number for limit, number in AGREEING if seconds <= limit) + more
    assert more in (0, IN_DOUBT)
    for step in ("parallel", "second_turn", "control"):
        found = halves(step, agreeing)
        assert sum(found.values()) == 2**MOST
        assert (found[True] + found[False]) / 2**MOST <= most, (step, found)

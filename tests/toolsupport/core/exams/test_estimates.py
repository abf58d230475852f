"""Shares, intervals and verdicts, by known values and by exact chances."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import pytest

from tests.tables import every
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.estimates import (
    GroupShare,
    TrialGrade,
    decided,
    estimate,
    interval,
    needs_more,
    sign_test,
    worse,
)


# Published values of Wilson's interval at 95 %.
@pytest.mark.parametrize(
    ("right", "trials", "low", "high"),
    [(0, 0, 0.0, 1.0), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_the_interval(right: int, trials: int, low: float, high: float) -> None:
    assert interval(right, trials) == pytest.approx((low, high), abs=5e-5)
    assert (GroupShare(right, trials).low, GroupShare(right, trials).high) == interval(right, trials)


@every(
    ("trials", "outcome", "more"),
    [
        ([], None, True),
        ([True], True, False),
        ([False], None, True),
        ([False, True], None, True),
        ([False, True, True], True, False),
        ([False, False], False, False),
        ([None], None, True),
        ([None, None, None], None, False),
        ([None, True], True, False),
    ],
)
def test_when_a_case_is_decided(trials: list[bool | None], outcome: bool | None, more: bool) -> None:
    assert decided(trials) is outcome
    assert needs_more(trials) is more


def grades(rights: Mapping[str, Sequence[bool | None]]) -> list[TrialGrade]:
    return [
        TrialGrade(f"{group}_{place}", group, right)
        for group, members in rights.items()
        for place, right in enumerate(members)
        for _ in range(1 if right else 3)
    ]


@every(
    ("rights", "verdict", "failed"),
    [
        ({}, "inconclusive", ()),
        ({"a": [True] * 10}, "passed", ()),
        ({"a": [True] * 12, "b": [False] * 4}, "failed", ("b",)),
        ({"a": [True] * 12, "b": [False] * 3}, "passed", ()),
        ({"a": [True] * 15 + [False] * 10}, "failed", ()),
        ({"a": [True] * 30 + [False] * 10}, "inconclusive", ()),
        ({"a": [True] * 10 + [None] * 3}, "inconclusive", ()),
        ({"a": [True] * 10 + [None] * 2}, "passed", ()),
    ],
)
def test_the_verdict(rights: dict[str, list[bool | None]], verdict: str, failed: tuple[str, ...]) -> None:
    found = estimate(grades(rights))
    assert (found.verdict, found.failed_groups) == (verdict, failed)


def test_the_sign_test() -> None:
    assert sign_test(0, 0) == 1.0
    assert sign_test(6, 0) == pytest.approx(2 / 64)
    assert sign_test(5, 0) == pytest.approx(2 / 32)
    assert sign_test(4, 4) == 1.0


def test_worse_and_better_and_not_clear() -> None:
    good, bad = grades({"a": [True] * 8}), grades({"a": [False] * 7 + [True]})
    assert worse(bad, good) is True
    assert worse(good, bad) is False
    assert worse(good, good) is None
    assert worse(grades({"a": [False] * 3 + [True] * 5}), good) is None


def test_a_lost_group_makes_a_build_worse() -> None:
    before = grades({"a": [True] * 20, "b": [True] * 4})
    after = grades({"a": [True] * 20, "b": [False] * 4})
    assert worse(after, before) is True
    assert worse(before, after) is False
    assert worse(after, grades({"a": [False] * 20, "b": [True] * 4})) is False


# A model that is right in this share of its trials, but for what a regression breaks.
STEADY = 0.97
# What a build may lose → the groups that cannot be right any more.
REGRESSIONS = ("parallel", "types", "turns", "irrelevant", "nested", "history")


def _took(broken: str, chance: random.Random) -> list[TrialGrade]:
    made = []
    for case in SUITES["quick"].cases:
        rights: list[bool | None] = []
        while needs_more(rights):
            rights.append(case.group != broken and chance.random() < STEADY)
        made += [TrialGrade(case.id, case.group, right) for right in rights]
    return made


@pytest.mark.parametrize("broken", REGRESSIONS)
def test_a_lost_group_is_found(broken: str) -> None:
    """A group of four with none right has an interval below one half, whatever else the model does."""
    chance = random.Random(broken)
    found = [estimate(_took(broken, chance)) for _ in range(100)]
    assert all(one.verdict == "failed" and broken in one.failed_groups for one in found)


def test_false_alarms_are_rare_by_exact_chance() -> None:
    """A case of a steady model fails with two wrong trials of three; a group fails with all of its cases."""
    slip = 1 - STEADY
    case_fails = slip * (slip + (1 - slip) * slip)
    groups = {group: sum(case.group == group for case in SUITES["quick"].cases) for group in REGRESSIONS}
    alarm = 1 - math.prod(1 - case_fails**size for size in groups.values())
    assert alarm < 0.01
    chance = random.Random(7)
    assert all(estimate(_took("", chance)).verdict == "passed" for _ in range(100))

"""Turns grades into shares with intervals, and shares into a verdict.

A share's interval is Wilson's at 95 %. A case is right if most of its trials are: one trial where it was right, up to
three where it was not, so that one slip of a model does not decide. A group fails if its whole interval lies below one
half. An exam is passed if its share is at least the pass mark and no group failed, failed if a group failed or the
interval lies below the mark, and else inconclusive. A failed server or a cut reply shows nothing about the model and
is no trial; an exam with more than a fifth of these is inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

Z = 1.959964  # of the normal distribution, for 95 %
PASS_MARK = 0.8
GROUP_MARK = 0.5
MOST_TRIALS = 3
MOST_UNKNOWN = 0.2
PASSED, FAILED, INCONCLUSIVE = "passed", "failed", "inconclusive"


@dataclass(frozen=True, slots=True)
class TrialGrade:
    """One graded trial of a case. `right` None: it shows nothing about the model."""

    case: str
    group: str
    right: bool | None


@dataclass(frozen=True, slots=True)
class GroupShare:
    """How many cases of a group were right; `low` and `high` are the interval of the share."""

    right: int
    trials: int

    @property
    def share(self) -> float:
        return self.right / self.trials if self.trials else 0.0

    @property
    def low(self) -> float:
        return interval(self.right, self.trials)[0]

    @property
    def high(self) -> float:
        return interval(self.right, self.trials)[1]


@dataclass(frozen=True, slots=True)
class ExamEstimate:
    """The outcome of an exam so far. `failed_groups` are those below one half for sure."""

    verdict: str
    total: GroupShare
    groups: Mapping[str, GroupShare]
    failed_groups: tuple[str, ...]
    unknown: int


def interval(right: int, trials: int) -> tuple[float, float]:
    """Return Wilson's interval of a share at 95 %; (0, 1) without trials."""
    if not trials:
        return 0.0, 1.0
    share, spread = right / trials, Z * Z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = Z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def decided(trials: Sequence[bool | None]) -> bool | None:
    """Return whether a case is right, None as long as another trial is needed or all of them show nothing."""
    known = [right for right in trials if right is not None]
    if known[:1] == [True]:
        return True
    for right in (True, False):
        if known.count(right) > MOST_TRIALS / 2:
            return right
    return None


def needs_more(trials: Sequence[bool | None]) -> bool:
    """Return whether a case needs another trial."""
    return decided(trials) is None and len(trials) < MOST_TRIALS


def estimate(grades: Iterable[TrialGrade]) -> ExamEstimate:
    """Return the estimate of these trials, in the order in which they were made for each case."""
    by_case: dict[tuple[str, str], list[bool | None]] = {}
    for grade in grades:
        by_case.setdefault((grade.group, grade.case), []).append(grade.right)
    outcomes = [(group, decided(trials)) for (group, _), trials in by_case.items()]
    known = sorted((group, right) for group, right in outcomes if right is not None)
    groups = {
        group: _share([right for _, right in members]) for group, members in groupby(known, key=lambda item: item[0])
    }
    total = _share([right for _, right in known])
    failed = tuple(group for group, share in groups.items() if share.high < GROUP_MARK)
    unknown = len(outcomes) - len(known)
    return ExamEstimate(_verdict(total, failed, unknown), total, groups, failed, unknown)


def _share(rights: Sequence[bool]) -> GroupShare:
    return GroupShare(sum(rights), len(rights))


def _verdict(total: GroupShare, failed: Sequence[str], unknown: int) -> str:
    if not total.trials or unknown > MOST_UNKNOWN * (total.trials + unknown):
        return INCONCLUSIVE
    if failed or total.high < PASS_MARK:
        return FAILED
    return PASSED if total.share >= PASS_MARK else INCONCLUSIVE


def worse(left: Sequence[TrialGrade], right: Sequence[TrialGrade]) -> bool | None:
    """Return whether `left` did worse than `right` on the cases that both took; None if that is uncertain.

    Only cases where the two differ count (the sign test of McNemar, exact, two-sided at 5 %). A group that failed in
    only one of them decides too: a build often loses one group of few cases.
    """
    failed, theirs_failed = set(estimate(left).failed_groups), set(estimate(right).failed_groups)
    if failed != theirs_failed and (failed <= theirs_failed or failed >= theirs_failed):
        return failed > theirs_failed
    ours, theirs = _by_case(left), _by_case(right)
    lost = sum(theirs[case] and not ours[case] for case in ours.keys() & theirs.keys())
    won = sum(ours[case] and not theirs[case] for case in ours.keys() & theirs.keys())
    if sign_test(lost, won) > 0.05:
        return None
    return lost > won


def sign_test(lost: int, won: int) -> float:
    """Return the probability that two equal models differ at least this much (two-sided)."""
    tried, extreme = lost + won, max(lost, won)
    tail = sum(math.comb(tried, number) for number in range(extreme, tried + 1)) / 2**tried
    return min(1.0, 2.0 * float(tail))


def _by_case(grades: Sequence[TrialGrade]) -> dict[str, bool]:
    trials: dict[str, list[bool | None]] = {}
    for grade in grades:
        trials.setdefault(grade.case, []).append(grade.right)
    outcomes = {case: decided(rights) for case, rights in trials.items()}
    return {case: right for case, right in outcomes.items() if right is not None}

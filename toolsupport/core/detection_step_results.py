"""Computes the result of one step of a test from its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.core import side_findings, verdicts
from toolsupport.core.outcomes import TrialOutcome, counting, of_step, subjects

# Steps that may follow a verdict, when no other test of the server waits; they do not change the verdict.
LATER = ("loaded", "constrains")
PASSED, FAILED, INCONCLUSIVE = "passed", "failed", "inconclusive"


@dataclass(frozen=True, slots=True)
class StepResult:
    """`name` is passed, failed or inconclusive; (passed, tried) of the trials that prove anything."""

    name: str
    passed: int
    tried: int


def result(step: str, outcomes: Sequence[TrialOutcome]) -> StepResult:
    """Return the result of a step: a mark states the result of the trials, never that the step is over."""
    made = of_step(outcomes, step, "tools" if step == "accepted" else "")
    counted = counting(made)
    passed, tried = sum(bool(outcome.passed) for outcome in counted), len(counted)
    return StepResult(_name(step, outcomes, passed, tried), passed, tried)


def _name(step: str, outcomes: Sequence[TrialOutcome], passed: int, tried: int) -> str:
    if step in side_findings.STEPS:
        found = side_findings.decided(side_findings.results(outcomes, step), step)
        return INCONCLUSIVE if found is None else PASSED if found else FAILED
    if not tried:
        return INCONCLUSIVE
    if step == "formats":
        return PASSED if any(verdicts.format_works(outcomes, name) for name in subjects(outcomes, step)) else FAILED
    right, of = verdicts.SHARE
    return PASSED if passed * of >= tried * right else FAILED

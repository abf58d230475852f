"""The result of a step states what its trials showed."""

from __future__ import annotations

from chat.templatetags.readable import step_state
from tests.tables import every
from toolsupport.core.detection_step_results import result
from toolsupport.core.outcomes import TrialOutcome


def made(step: str, codes: str, subject: str = "") -> list[TrialOutcome]:
    return [TrialOutcome(step, code, subject=subject) for code in codes.split()]


@every(
    "outcomes, step, expected",
    [
        (made("called", "right right right"), "called", ("passed", 3, 3)),
        (made("called", "right right no_call"), "called", ("passed", 2, 3)),
        (made("called", "no_call no_call right"), "called", ("failed", 1, 3)),
        (made("called", "timeout failed"), "called", ("inconclusive", 0, 0)),
        # a greeting that was answered says nothing about tools
        (made("accepted", "right", "bare") + made("accepted", "refused", "tools"), "accepted", ("failed", 0, 1)),
        # too few or too mixed for a finding
        (made("parallel", "right"), "parallel", ("inconclusive", 1, 1)),
        (made("parallel", "right right right only_one only_one"), "parallel", ("inconclusive", 3, 5)),
        (made("control", "right right right"), "control", ("passed", 3, 3)),
        (made("control", "called_for_nothing " * 4), "control", ("failed", 0, 4)),
        (made("formats", "right right", "hermes"), "formats", ("passed", 2, 2)),
        (made("formats", "no_call no_call", "hermes"), "formats", ("failed", 0, 2)),
        ([], "rendered", ("inconclusive", 0, 0)),
    ],
)
def test_the_result_of_a_step(outcomes: list[TrialOutcome], step: str, expected: tuple[str, int, int]) -> None:
    found = result(step, outcomes)
    assert (found.name, found.passed, found.tried) == expected


@every(
    "step, mark",
    [
        ({"state": "done", "result": "failed"}, "failed"),
        ({"state": "done", "result": "passed"}, "passed"),
        ({"state": "waiting", "result": "passed"}, "passed"),
        ({"state": "waiting"}, "not-started"),
        ({"state": "running", "result": "passed"}, "running"),
        ({"state": "not_needed"}, "skipped"),
        ({"state": "skipped", "result": "skipped"}, "skipped"),
        ({"state": "done"}, "ended"),
        # A claim is neither passed nor failed: it never looks like a proof.
        ({"state": "done", "step": "declared", "result": "passed"}, "claimed"),
        ({"state": "done", "step": "declared", "result": "failed"}, "not-claimed"),
        ({"state": "done", "step": "declared", "result": "inconclusive"}, "inconclusive"),
    ],
)
def test_the_mark_of_a_step_is_its_result(step: dict[str, str], mark: str) -> None:
    assert step_state(step) == mark

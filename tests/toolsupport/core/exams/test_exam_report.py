"""The sentences about exams: a code never stands for a reason."""

from __future__ import annotations

import pytest

from toolsupport.core.exams import exam_report
from toolsupport.core.exams.grading import CODES, CaseGrade


@pytest.mark.parametrize("code", [code for code, right in CODES.items() if right is None])
def test_a_trial_without_a_reason_is_explained_by_a_sentence(code: str) -> None:
    words = exam_report.not_graded(CaseGrade(code, {"reason": ""}))
    assert words[0].isupper() and words.endswith(".")
    told = "The server refused the tools: “It is gone”." if code == "refused" else "It is gone."
    assert exam_report.not_graded(CaseGrade(code, {"reason": "It is gone."})) == told

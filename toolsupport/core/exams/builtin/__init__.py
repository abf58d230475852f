"""The built-in exam: 120 cases in ten groups, of which the quick exam takes four or six of each."""

from __future__ import annotations

from toolsupport.core.exams.builtin import (
    choice,
    history,
    irrelevant,
    missing_tool,
    nested,
    parallel,
    reasoning,
    single,
    turns,
    types,
)
from toolsupport.core.exams.cases import ExamSuite

QUICK, FULL = "quick", "full"
CASES = (
    *single.CASES,
    *choice.CASES,
    *types.CASES,
    *nested.CASES,
    *parallel.CASES,
    *turns.CASES,
    *irrelevant.CASES,
    *missing_tool.CASES,
    *history.CASES,
    *reasoning.CASES,
)
SUITES = {
    QUICK: ExamSuite(QUICK, tuple(case for case in CASES if case.quick)),
    FULL: ExamSuite(FULL, CASES),
}

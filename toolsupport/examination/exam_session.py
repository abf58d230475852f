"""Takes the cases of a run through their trials, a few at once, until each case is decided."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from toolsupport.core.exams import exam_report
from toolsupport.core.exams.cases import ExamCase
from toolsupport.core.exams.estimates import needs_more
from toolsupport.core.exams.grading import CODES
from toolsupport.examination.case_dialog import CaseTrial

GIVE_UP = 5  # trials in a row in which the server failed, after which the run ends

Ask = Callable[[ExamCase, str], Awaitable[CaseTrial]]


@dataclass(frozen=True, slots=True)
class GradedTrial:
    """The trial of a case in one format; `n` counts from 1."""

    case: ExamCase
    asked_format: str
    n: int
    trial: CaseTrial


Keep = Callable[[GradedTrial], Awaitable[None]]


class ExamSession:
    """One run. `made` has the trials of an earlier process, by format and case.

    `failing` is why the run ended early, "" otherwise: its server failed in each of the last trials.
    """

    def __init__(
        self, cases: Sequence[ExamCase], formats: Sequence[str], made: Mapping[tuple[str, str], Sequence[bool | None]]
    ) -> None:
        self._waiting = iter([(asked_format, case) for asked_format in formats for case in cases])
        self._made = {key: list(rights) for key, rights in made.items()}
        self._failures = 0
        self.failing = ""

    @property
    def graded(self) -> int:
        """How many cases are decided, each format for itself."""
        return sum(not needs_more(rights) for rights in self._made.values())

    async def work(self, ask: Ask, keep: Keep) -> None:
        """Run trials until none is left; call it once for each trial that may run at the same time."""
        for asked_format, case in self._waiting:
            rights = self._made.setdefault((asked_format, case.id), [])
            while needs_more(rights) and not self.failing:
                trial = await ask(case, asked_format)
                rights.append(CODES[trial.grade.code])
                self._note(trial)
                await keep(GradedTrial(case, asked_format, len(rights), trial))
            if self.failing:
                return

    def _note(self, trial: CaseTrial) -> None:
        failed = trial.grade.code in ("failed", "timeout", "refused")
        self._failures = self._failures + 1 if failed else 0
        if self._failures >= GIVE_UP:
            self.failing = exam_report.not_graded(trial.grade)

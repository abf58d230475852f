"""One test from its first step to its verdict."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from toolsupport.core import verdicts
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import DETECTORS, KINDS
from toolsupport.detection.laboratory import STEP_SECONDS, Laboratory


@dataclass(frozen=True, slots=True)
class Step:
    """How far a step is. `state` is waiting, running, done, skipped or not_needed."""

    name: str
    title: str
    state: str
    detail: str = ""


Tell = Callable[[Step], Awaitable[None]]


async def examine(lab: Laboratory, kind: str, tell: Tell, skipped: Callable[[str], bool]) -> Verdict:
    """Try what this kind of test tries, as long as it can add anything. `skipped` says what people left out."""
    for name in KINDS[kind]:
        detector = DETECTORS[name]
        if skipped(name):
            await tell(Step(name, detector.title, "skipped", "Left out by a person."))
        elif not verdicts.wanted(name, lab.outcomes):
            await tell(Step(name, detector.title, "not_needed"))
        else:
            await tell(Step(name, detector.title, "running"))
            await detector.run(lab)
            await tell(Step(name, detector.title, "done", _summary(lab, name)))
    return verdicts.judge(lab.outcomes)


def longest(kind: str) -> float:
    """How many seconds a test of a loaded, quick model may take at most: what is shown beforehand."""
    return min(120.0, STEP_SECONDS * sum(DETECTORS[name].answers for name in KINDS[kind]))


def _summary(lab: Laboratory, step: str) -> str:
    made = [outcome for outcome in lab.outcomes if outcome.step == step]
    return made[-1].why if made else ""

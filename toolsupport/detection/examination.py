"""One test from its first step to its verdict."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from toolsupport.core import verdicts
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import DETECTORS, KINDS, Detector
from toolsupport.detection.laboratory import STEP_SECONDS, Laboratory, StepLeft


@dataclass(frozen=True, slots=True)
class Step:
    """How far a step is. `state` is waiting, running, done, skipped or not_needed."""

    name: str
    title: str
    state: str
    detail: str = ""


LEFT_OUT = "Left out by a person."
Tell = Callable[[Step], Awaitable[None]]


async def examine(lab: Laboratory, kind: str, tell: Tell, skipped: Callable[[str], bool]) -> Verdict:
    """Try what this kind of test tries, as long as it can add anything. `skipped` says what people left out."""
    for name in KINDS[kind]:
        detector = DETECTORS[name]
        if skipped(name):
            await tell(Step(name, detector.title, "skipped", LEFT_OUT))
        elif not verdicts.wanted(name, lab.outcomes):
            await tell(Step(name, detector.title, "not_needed"))
        else:
            await tell(Step(name, detector.title, "running"))
            await tell(await _run(lab, detector, partial(skipped, name)))
    return verdicts.judge(lab.outcomes)


async def _run(lab: Laboratory, detector: Detector, left: Callable[[], bool]) -> Step:
    """One step as it ended; skipped while it runs, it ends before its next question, and what it proved counts."""
    lab.left = left
    try:
        await detector.run(lab)
    except StepLeft:
        return Step(detector.name, detector.title, "skipped", LEFT_OUT)
    return Step(detector.name, detector.title, "done", _summary(lab, detector.name))


def longest(kind: str) -> float:
    """How many seconds a test of a loaded, quick model may take at most: what is shown beforehand."""
    return min(120.0, STEP_SECONDS * sum(DETECTORS[name].answers for name in KINDS[kind]))


def _summary(lab: Laboratory, step: str) -> str:
    made = [outcome for outcome in lab.outcomes if outcome.step == step]
    return made[-1].why if made else ""

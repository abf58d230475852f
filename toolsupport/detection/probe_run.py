"""Runs one test from its first step to its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from toolsupport.core import detection_step_results, side_findings, verdicts
from toolsupport.core.detection_step_results import LATER
from toolsupport.core.outcomes import of_step, tally
from toolsupport.core.sentence_codes import joined
from toolsupport.core.sentences import sentence
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import DETECTORS, STEPS, Detector, constrains
from toolsupport.detection.per_tool import FILE_TOOLS
from toolsupport.detection.probe_limits import LIMITS
from toolsupport.detection.probe_runner import THINKING_STRETCH, ProbeRunner, StepSkipped, TimeLimitReached
from toolsupport.detection.text_formats import lacks_steady_format


@dataclass(frozen=True, slots=True)
class StepProgress:
    """The progress of a step. `state` is waiting, running, done, skipped or not_needed.

    `result` is that of step_results, "" until a round is over; (passed, tried) are its trials so far.
    """

    name: str
    title: str
    state: str
    detail: str = ""
    result: str = ""
    passed: int = 0
    tried: int = 0
    took_ms: int = 0


SKIPPED = sentence("skipped")
AFTERWARDS = sentence("follows_other_tests")
CONSTRAINS = "constrains"
ReportStep = Callable[[StepProgress], Awaitable[None]]


async def examine(runner: ProbeRunner, kind: str, report: ReportStep, skipped: Callable[[str], bool]) -> Verdict:
    """Run the steps of this kind as long as they can add anything. `skipped` names the steps that people skipped.

    First come the verdict and the minimum of trials for each side finding, then more of these while there is time.
    """
    took: Counter[str] = Counter()
    for name in _in_rounds(runner, STEPS[kind]):
        detector = DETECTORS[name]
        if skipped(name):
            await report(StepProgress(name, detector.title, "skipped", SKIPPED))
        elif not verdicts.wanted(name, runner.outcomes):
            await report(StepProgress(name, detector.title, "not_needed"))
        elif runner.postponed:
            await report(StepProgress(name, detector.title, "waiting", AFTERWARDS))
        else:
            begun = _with_result(runner, StepProgress(name, detector.title, "running"), 0)
            await report(replace(begun, result=""))
            since = runner.run_ms
            ended = await _run(runner, detector, partial(skipped, name), report)
            took[name] += runner.run_ms - since
            await report(_with_result(runner, ended, took[name]))
    return verdicts.judge(runner.outcomes)


def _in_rounds(runner: ProbeRunner, names: Sequence[str]) -> Iterator[str]:
    """Return the steps in the order in which they run, which depends on earlier results.

    The step about schemas comes last, unless calls may have to be constrained.
    """
    runner.first_round = True
    yield from (name for name in names if name != CONSTRAINS)
    forces = CONSTRAINS in names and constrains.possible(runner)
    if forces and "formats" in names and verdicts.wanted("formats", runner.outcomes) and lacks_steady_format(runner):
        yield from (CONSTRAINS, "formats")
        forces = False
    runner.first_round = False
    yield from (name for name in side_findings.SAMPLED if name in names)
    later = runner.subject.later and names != LATER
    runner.postponed = forces and later and verdicts.wanted(CONSTRAINS, runner.outcomes)
    if CONSTRAINS in names:
        yield CONSTRAINS


async def _run(runner: ProbeRunner, detector: Detector, left: Callable[[], bool], report: ReportStep) -> StepProgress:
    """Run one step and return its result; if it is skipped it ends before its next request, and its results count."""
    runner.left = left
    runner.report = partial(_progress, report, detector)
    try:
        await detector.run(runner)
    except StepSkipped:
        return StepProgress(detector.name, detector.title, "skipped", SKIPPED)
    except TimeLimitReached:
        why = _cut_short(runner, detector.name)
        return StepProgress(detector.name, detector.title, "done", why, detection_step_results.INCONCLUSIVE)
    again = runner.first_round and detector.name in side_findings.SAMPLED
    return StepProgress(detector.name, detector.title, "waiting" if again else "done", _summary(runner, detector.name))


def _with_result(runner: ProbeRunner, step: StepProgress, took_ms: int) -> StepProgress:
    """Add the result of a step's trials. A skipped step keeps it; one that ran out of time never fails."""
    found = detection_step_results.result(step.name, runner.outcomes)
    name = "skipped" if step.state == "skipped" else found.name
    if found.name == detection_step_results.FAILED and step.result:
        name = step.result
    return replace(step, result=name, passed=found.passed, tried=found.tried, took_ms=took_ms)


def _cut_short(runner: ProbeRunner, step: str) -> str:
    """Return the text for a step that ran out of time: an unmeasured capability is no finding about the model."""
    if step == "per_tool":
        missing = [tool for tool in FILE_TOOLS if not side_findings.way_of(runner.outcomes, tool)]
        return sentence("tools_not_measured", tools=missing) if missing else _summary(runner, step)
    tried = side_findings.results(runner.outcomes, step)
    if step in side_findings.STEPS and side_findings.decided(tried, step) is None:
        return sentence("not_measured", tried=len(tried))
    return joined(sentence("out_of_time"), _summary(runner, step))


async def _progress(report: ReportStep, detector: Detector, detail: str) -> None:
    await report(StepProgress(detector.name, detector.title, "running", detail))


def longest(kind: str, thinks: bool = False) -> float:
    """Return the maximum duration of a test of a loaded model in seconds, shown before it starts."""
    answers = sum(DETECTORS[name].answers for name in STEPS[kind])
    if thinks:
        return min(LIMITS.thinking, LIMITS.answer * THINKING_STRETCH * answers)
    return min(LIMITS.total, LIMITS.answer * answers)


def _summary(runner: ProbeRunner, step: str) -> str:
    """Return the result: for steps of several trials the number passed, and whether that proves anything."""
    made = of_step(runner.outcomes, step)
    if step not in side_findings.STEPS or len(made) < 2:
        return made[-1].why if made else ""
    mixed = side_findings.decided(side_findings.results(made, step), step) is None
    return sentence("passed_of_open" if mixed else "passed_of", **tally(made), last=made[-1].why)

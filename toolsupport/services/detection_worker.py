"""Runs the queued tests, each with a heartbeat, its evidence and its verdict."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, TypeVar

from channels.db import database_sync_to_async as in_database
from django.db import InterfaceError, OperationalError

from toolsupport.core import redaction, side_findings, verdicts
from toolsupport.core.sentence_codes import mapped
from toolsupport.core.sentences import sentence
from toolsupport.core.server_refusals import classify
from toolsupport.core.types import JSON, ChatMessage, ToolSpec
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import DETECTORS, STEPS, ProbeReply, ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.probe_run import StepProgress, examine
from toolsupport.detection.text_formats import formats_for
from toolsupport.registry.knowledge import reasoning_starts
from toolsupport.registry.testing import detections, first_uses, later_steps, probe_target
from toolsupport.registry.testing.detections import DetectionResult, DetectionSignals, TrialRecord
from toolsupport.registry.testing.idle import IdleCheck
from toolsupport.registry.testing.probe_target import DetectionTarget
from toolsupport.services.claim_loop import ClaimLoop, Spawn, Work

log = logging.getLogger(__name__)

HEARTBEAT = 1.5
LONGEST_EVIDENCE = 20_000  # characters of one text in a trial
# Errors of a database that is locked, full or away: it may accept the same statement a moment later.
UNREACHABLE = (OperationalError, InterfaceError)
RETRY = 0.5  # seconds between two attempts to write
BROKE_OFF = sentence("test_failed")

Written = TypeVar("Written")


class DetectionWorker(ClaimLoop):
    """Claims queued tests for one process."""

    what = "model tests"

    def __init__(self, owner: str, spawn: Spawn) -> None:
        super().__init__(owner, spawn)
        self.idle = IdleCheck()

    async def _next(self) -> tuple[int, Work] | None:
        found = await in_database(detections.claim)(self.owner, self.idle, list(self.running))
        if found is not None:
            return found, self._run(DetectionRun(found, self.owner, self._spawn))
        later = await in_database(later_steps.claim)(self.owner) if self.own is None else None
        return None if later is None else (later, self._run(LaterSteps(later, self.owner, self._spawn)))

    async def _release(self) -> None:
        await in_database(detections.leave)(self.owner, self.own)
        await in_database(later_steps.leave)(self.owner)

    async def _run(self, run: DetectionRun) -> None:
        try:
            await run.perform()
        except Exception:
            log.exception("model test %s failed", run.detection)
            await run.conclude(DetectionResult("inconclusive", {"why": BROKE_OFF}, reason=BROKE_OFF, status="failed"))


class DetectionRun:
    """One claimed test."""

    __test__ = False  # not a test case for pytest, despite its name
    rows: ClassVar[ModuleType] = detections
    later: ClassVar[str] = ""

    def __init__(self, detection: int, owner: str, spawn: Spawn) -> None:
        self.detection, self.owner = detection, owner
        self.steps: dict[str, StepProgress] = {}
        self.skip: set[str] = set()
        self._spawn = spawn
        self._changed = asyncio.Event()
        # Why the heartbeat stopped the test: a key of STOPS, "" while it continues.
        self._why = ""
        self._held_until = time.monotonic() + detections.LEASE.total_seconds()
        self._complained = False
        # The result of the trials of native calls, once they are over.
        self._calls: Verdict | None = None

    async def perform(self) -> None:
        """Run the test, then store the verdict. Cancelled by people, it ends as `cancelled` without a verdict."""
        tested = await in_database(probe_target.tested)(self.detection)
        kind = self.later or tested.kind
        self.steps = {name: StepProgress(name, DETECTORS[name].title, "waiting") for name in STEPS[kind]}
        keep = partial(self._keep_and_learn, tested)
        self.runner = runner = ProbeRunner(_subject(tested), keep, random.Random(os.urandom(16)))
        work = self._spawn(examine(runner, kind, self._report, self.skip.__contains__))
        heart = self._spawn(self._beat(work))
        try:
            verdict = await work
        except asyncio.CancelledError:
            if not self._why:
                raise
            verdict = None
        finally:
            heart.cancel()
            work.cancel()
        if self._why != "lost":  # a lost test has no lease to renew
            await self._write(self.rows.renew, self._progress())
        await self.conclude(STOPS[self._why](runner) if verdict is None else concluded(verdict, runner))

    async def conclude(self, how: DetectionResult) -> None:
        """Store the end of the test."""
        if not await self._write(self.rows.conclude, how):
            log.warning("another process ended model test %s: its verdict %r is dropped", self.detection, how.verdict)

    async def _write(self, work: Callable[..., Written], *given: Any) -> Written:
        """Retry a write for this test while the database fails, until the lease expires."""
        while True:
            try:
                return await in_database(work)(self.detection, self.owner, *given)
            except UNREACHABLE as error:
                if time.monotonic() > self._held_until:
                    raise
                if not self._complained:
                    log.warning("could not write model test %s, retrying: %s", self.detection, error)
                self._complained = True
                await asyncio.sleep(RETRY)

    async def _beat(self, work: asyncio.Task[Any]) -> None:
        """Renew the lease and store progress until the test is over, even while the database fails."""
        while True:
            self._changed.clear()
            wanted = await self._renewed()
            if wanted.cancel or not wanted.mine:
                self._why = "cancelled" if wanted.cancel else "lost"
                work.cancel()
                return
            if wanted.skip:
                self.skip.add(wanted.skip)
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT):
                    await self._changed.wait()

    async def _renewed(self) -> DetectionSignals:
        """Return people's commands; the test is lost if the lease expired before the database accepted a renewal."""
        began = time.monotonic()
        try:
            wanted: DetectionSignals = await self._write(self.rows.renew, self._progress())
        except Exception:
            log.exception("could not renew the lease of model test %s", self.detection)
            return DetectionSignals(mine=time.monotonic() <= self._held_until)
        self._held_until, self._complained = began + detections.LEASE.total_seconds(), False
        return wanted

    async def _report(self, step: StepProgress) -> None:
        self.steps[step.name] = step
        self._changed.set()
        if step.name == "called" and step.state == "done":
            self._calls = verdicts.judge(self.runner.outcomes)
        if step.state != "running" and self._calls is not None and self._calls.values.get("tools") is True:
            await self._write(first_uses.found, self._calls.values, self._calls.reason)

    async def _keep_and_learn(self, tested: DetectionTarget, trial: ProbeTrial) -> None:
        """Store a trial; if it showed how replies begin, later trials and requests use that."""
        await self._keep(trial)
        seen = trial.reply.beginning
        if seen is not None:
            request_spec = replace(self.runner.subject.request_spec, begins_inside=seen.begins_inside)
            self.runner.subject = replace(self.runner.subject, request_spec=request_spec)
            with suppress(*UNREACHABLE):  # the next reply will show it again
                await in_database(reasoning_starts.learn)(tested.profile, tested.build, seen.begins_inside)

    async def _keep(self, trial: ProbeTrial) -> None:
        step = self.steps.get(trial.outcome.step)
        if step is not None and step.state == "running":
            passed = trial.outcome.passed
            step = replace(
                step, detail=sentence("trial", n=trial.n, why=trial.outcome.why), passed=step.passed + bool(passed)
            )
            await self._report(replace(step, tried=step.tried + (passed is not None)))
        await self._write(self.rows.add_trial, evidence(trial))

    def _progress(self) -> list[JSON]:
        return [{"step": step.name, **asdict(step)} for step in self.steps.values()]


class LaterSteps(DetectionRun):
    """The steps of a claimed test that follow its verdict."""

    rows: ClassVar[ModuleType] = later_steps
    later: ClassVar[str] = "later"


def _cancelled(runner: ProbeRunner) -> DetectionResult:
    return DetectionResult("", {"why": sentence("test_cancelled")}, status="cancelled", run_ms=runner.run_ms)


def _lost(runner: ProbeRunner) -> DetectionResult:
    why = detections.GONE
    return DetectionResult("inconclusive", {"why": why}, reason=why, status="interrupted", run_ms=runner.run_ms)


# The end of a test that its heartbeat stopped: people cancelled it, or its lease ran out.
STOPS: Mapping[str, Callable[[ProbeRunner], DetectionResult]] = MappingProxyType(
    {"cancelled": _cancelled, "lost": _lost}
)


def _subject(tested: DetectionTarget) -> ProbeTarget:
    formats = formats_for(tested.family_formats)
    may = (tested.runs_code, tested.may_force, tested.later)
    return ProbeTarget(tested.endpoint, tested.request_spec, formats, tested.thinks, tested.parsers, *may)


def concluded(verdict: Verdict, runner: ProbeRunner) -> DetectionResult:
    """Return the row's status and text for the end of a test."""
    return DetectionResult(
        verdict.name,
        dict(verdict.detail),
        {**verdict.values, **side_findings.of_server(runner.outcomes)},
        verdict.reason,
        load_ms=runner.load_ms,
        run_ms=runner.run_ms,
        remaining=runner.postponed,
    )


def evidence(trial: ProbeTrial) -> TrialRecord:
    """Return a trial for storage: the request and the reply, without secrets."""
    question, reply = trial.question, trial.reply
    request: JSON = {
        "messages": [_message(message) for message in question.messages],
        "tools": [_tool(tool) for tool in question.tools],
        "format": question.format,
        "streamed": question.streamed,
        "think": question.think,
        "most_tokens": reply.budget,
    }
    response: JSON = {
        "text": reply.text,
        "thinking": reply.thinking,
        "finish": reply.finish,
        "calls": [{"name": call.name, "arguments": call.arguments, "repairs": call.repairs} for call in reply.calls],
        "rejected": [{"name": one.name, "reason": one.reason, "raw": one.raw} for one in reply.rejected],
        "refused": reply.refused.message if reply.refused else "",
        "rule": _rule(reply),
        "failed": {"kind": reply.failed.kind, "message": reply.failed.message, "body": reply.failed.body}
        if reply.failed
        else None,
        "code": trial.outcome.code,
        "subject": trial.outcome.subject,
    }
    return TrialRecord(
        step=trial.outcome.step,
        n=trial.n,
        request=cleaned(request),
        response=cleaned(response),
        passed=trial.outcome.passed,
        why=mapped(trial.outcome.why, redaction.redact),
        status=_status(trial),
        duration_ms=round(reply.seconds * 1000),
        prompt_tokens=reply.usage.prompt_tokens,
        output_tokens=reply.usage.output_tokens,
    )


def _rule(reply: ProbeReply) -> str:
    """Return the rule that classified the server's error, "" if there was none."""
    if reply.refused is not None:
        return reply.refused.rule
    return classify(reply.failed.status, reply.failed.body).rule if reply.failed else ""


def _status(trial: ProbeTrial) -> int | None:
    if trial.reply.refused is not None:
        return trial.reply.refused.status
    return trial.reply.failed.status or None if trial.reply.failed else 200


def _message(message: ChatMessage) -> JSON:
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.calls]
    return {"role": message.role.value, "content": message.content} | ({"calls": calls} if calls else {})


def _tool(tool: ToolSpec) -> str:
    return tool.name


def _cleaned_text(text: str) -> str:
    cut = text if len(text) <= LONGEST_EVIDENCE else f"{text[:LONGEST_EVIDENCE]}… ({len(text):,} characters)"
    return redaction.redact(cut)


def cleaned(value: Any) -> Any:
    """Return the same value without secrets, long texts cut with a note."""
    if isinstance(value, str):
        return mapped(value, _cleaned_text)
    if isinstance(value, dict):
        return {key: cleaned(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(inner) for inner in value]
    return value

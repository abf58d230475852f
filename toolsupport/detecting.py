"""Runs the tests that wait in rows, each with a heartbeat, its evidence and its verdict."""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from channels.db import database_sync_to_async as in_database

from toolsupport import redaction
from toolsupport.core.refusals import classify
from toolsupport.core.verdicts import Verdict
from toolsupport.core.words import JSON, Message, ToolSpec
from toolsupport.detection import DETECTORS, KINDS, Laboratory, Reply, Subject, Trial
from toolsupport.detection.examination import Step, examine
from toolsupport.detection.text_formats import formats_for
from toolsupport.registry import detections, subjects
from toolsupport.registry.detections import Concluded, TrialMade
from toolsupport.registry.quiet import Quiet
from toolsupport.registry.subjects import Tested

log = logging.getLogger(__name__)

LOOK = 1.0  # seconds between two looks for queued tests
HEARTBEAT = 1.5
AT_ONCE = 8  # tests in one process; how many run on one server is decided by registry.detection_queue
LONGEST_EVIDENCE = 20_000  # characters of one text in a trial

Spawn = Callable[[Coroutine[Any, Any, Any]], "asyncio.Task[Any]"]


class Tester:
    """Claims queued tests for one process. `look` at once when somebody here has queued one."""

    def __init__(self, owner: str, spawn: Spawn) -> None:
        self.owner = owner
        self.idle = Quiet()
        self._spawn = spawn
        self._running: set[asyncio.Task[Any]] = set()
        self._wake = asyncio.Event()

    def look(self) -> None:
        """Do not wait for the next look."""
        self._wake.set()

    async def serve(self) -> None:
        """Claim and run, until cancelled."""
        while True:
            self._wake.clear()
            try:
                await self._claim()
            except Exception:
                log.exception("looking for tests of models failed; it is tried again")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._wake.wait()

    async def _claim(self) -> None:
        while len(self._running) < AT_ONCE:
            found = await in_database(detections.claim)(self.owner, self.idle)
            if found is None:
                return
            task = self._spawn(self._run(found))
            self._running.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        self._wake.set()

    async def _run(self, detection: int) -> None:
        try:
            await TestRun(detection, self.owner, self._spawn).perform()
        except asyncio.CancelledError:
            # The site stops: nobody should have to wait until the lease runs out.
            await in_database(detections.interrupt)(detection, self.owner)
            raise
        except Exception:
            log.exception("the test %s broke off", detection)
            broken = Concluded("inconclusive", {"why": "The test itself broke off."}, status="failed")
            await in_database(detections.conclude)(detection, self.owner, broken)


class TestRun:
    """One claimed test."""

    __test__ = False  # not a test of ours, whatever its name says

    def __init__(self, detection: int, owner: str, spawn: Spawn) -> None:
        self.detection, self.owner = detection, owner
        self.steps: dict[str, Step] = {}
        self.skip: set[str] = set()
        self._spawn = spawn
        self._changed = asyncio.Event()
        self._cancelled = False

    async def perform(self) -> None:
        """Test, then write the verdict down. Cancelled by people, it ends as `cancelled` and decides nothing."""
        tested = await in_database(subjects.tested)(self.detection)
        self.steps = {name: Step(name, DETECTORS[name].title, "waiting") for name in KINDS[tested.kind]}
        lab = Laboratory(_subject(tested), self._keep, random.Random(os.urandom(16)))
        work = self._spawn(examine(lab, tested.kind, self._tell, self.skip.__contains__))
        heart = self._spawn(self._beat(work))
        try:
            verdict = await work
        except asyncio.CancelledError:
            if not self._cancelled:
                raise
            verdict = None
        finally:
            heart.cancel()
            work.cancel()
        await in_database(detections.renew)(self.detection, self.owner, self._progress())
        await in_database(detections.conclude)(self.detection, self.owner, concluded(verdict, lab))

    async def _beat(self, work: asyncio.Task[Any]) -> None:
        """Renew the lease, write progress down as it is made, hear what people want."""
        while True:
            self._changed.clear()
            wanted = await in_database(detections.renew)(self.detection, self.owner, self._progress())
            self._cancelled = wanted.cancel
            if wanted.cancel or not wanted.mine:
                self._cancelled = True
                work.cancel()
                return
            if wanted.skip:
                self.skip.add(wanted.skip)
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT):
                    await self._changed.wait()

    async def _tell(self, step: Step) -> None:
        self.steps[step.name] = step
        self._changed.set()

    async def _keep(self, trial: Trial) -> None:
        step = self.steps.get(trial.outcome.step)
        if step is not None and step.state == "running":
            await self._tell(replace(step, detail=f"{trial.n}: {trial.outcome.why}"))
        await in_database(detections.add_trial)(self.detection, self.owner, evidence(trial))

    def _progress(self) -> list[JSON]:
        return [{"step": step.name, **asdict(step)} for step in self.steps.values()]


def _subject(tested: Tested) -> Subject:
    formats = formats_for(tested.family_formats)
    return Subject(tested.endpoint, tested.brief, formats, tested.thinks, tested.leak_flag, tested.runs_code)


def concluded(verdict: Verdict | None, lab: Laboratory) -> Concluded:
    """The row's words for how a test ended."""
    if verdict is None:
        return Concluded("", {"why": "It was cancelled."}, status="cancelled", run_ms=lab.run_ms)
    return Concluded(
        verdict.name,
        dict(verdict.detail),
        dict(verdict.values),
        verdict.reason,
        load_ms=lab.load_ms,
        run_ms=lab.run_ms,
    )


def evidence(trial: Trial) -> TrialMade:
    """A trial as it is kept: what was sent and what came, without secrets."""
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
    return TrialMade(
        step=trial.outcome.step,
        n=trial.n,
        request=_clean(request),
        response=_clean(response),
        passed=trial.outcome.passed,
        why=redaction.redact(trial.outcome.why),
        status=_status(trial),
        duration_ms=round(reply.seconds * 1000),
        prompt_tokens=reply.usage.prompt_tokens,
        output_tokens=reply.usage.output_tokens,
    )


def _rule(reply: Reply) -> str:
    """The rule by which the words of the server were understood, "" where none was."""
    if reply.refused is not None:
        return reply.refused.rule
    return classify(reply.failed.status, reply.failed.body).rule if reply.failed else ""


def _status(trial: Trial) -> int | None:
    if trial.reply.refused is not None:
        return trial.reply.refused.status
    return trial.reply.failed.status or None if trial.reply.failed else 200


def _message(message: Message) -> JSON:
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.calls]
    return {"role": message.role.value, "content": message.content} | ({"calls": calls} if calls else {})


def _tool(tool: ToolSpec) -> str:
    return tool.name


def _clean(value: Any) -> Any:
    """The same without secrets, long texts cut with a note."""
    if isinstance(value, str):
        cut = value if len(value) <= LONGEST_EVIDENCE else f"{value[:LONGEST_EVIDENCE]}… ({len(value):,} characters)"
        return redaction.redact(cut)
    if isinstance(value, dict):
        return {key: _clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return value

"""Runs the queued exams: claims a run, keeps its lease, stores each trial and the verdict."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.db import InterfaceError, OperationalError

from toolsupport.core.errors import ConfigError, ToolsupportError
from toolsupport.core.exams import exam_report
from toolsupport.core.exams.cases import ExamCase
from toolsupport.core.types import ChatSettings
from toolsupport.examination import case_request
from toolsupport.examination.case_dialog import CaseDialog, CaseModel, CaseTrial, not_offered
from toolsupport.examination.exam_session import ExamSession, GradedTrial
from toolsupport.registry.exams import exam_runs
from toolsupport.registry.exams.exam_runs import ClaimedExam, ExamTrialRecord
from toolsupport.registry.models import request_context
from toolsupport.registry.servers import server_slots
from toolsupport.services.claim_loop import ClaimLoop, Spawn, Work
from toolsupport.services.detection_worker import cleaned

log = logging.getLogger(__name__)

BEAT = 2.0  # seconds between two renewals of the lease
AT_ONCE = server_slots.MOST  # trials at the same time on one server; it has one run at a time
LOOK = 0.1  # seconds between two checks for a free place on the server
RETRY = 0.5
UNREACHABLE = (OperationalError, InterfaceError)


class RunLost(Exception):
    """The run was cancelled, or another process has it."""


class ExamWorker(ClaimLoop):
    """Claims queued exams for one process; `idle` returns whether a server is unused, for runs that wait for that."""

    what = "exams"
    most = 64  # one on each server
    idle: Callable[[int], bool] = staticmethod(lambda server: True)

    async def _next(self) -> tuple[int, Work] | None:
        found = await in_database(exam_runs.claim)(self.owner, self.own, self.idle)
        return None if found is None else (found.id, self._perform(found))

    async def _release(self) -> None:
        await in_database(exam_runs.leave)(self.owner)
        await in_database(server_slots.leave)(f"{self.owner}/exam/")

    async def _perform(self, claimed: ClaimedExam) -> None:
        try:
            await _ExamPerformance(claimed, self.owner, self._spawn).perform()
        except RunLost:
            log.info("exam %s was cancelled or taken over", claimed.id)


class _ExamPerformance:
    """The work on one claimed run."""

    def __init__(self, claimed: ClaimedExam, owner: str, spawn: Spawn) -> None:
        self.claimed, self.owner = claimed, owner
        self.session = ExamSession(claimed.cases, claimed.formats, claimed.made)
        self._spawn = spawn
        self._used: dict[str, str] = {}
        self._lost = False

    async def perform(self) -> None:
        """Run all trials and store the verdict. Raises RunLost."""
        work = [self._beat(), *(self.session.work(self._ask, self._keep) for _ in range(AT_ONCE))]
        heart, *workers = tasks = [self._spawn(self._until_lost(part)) for part in work]
        try:
            waiting: set[asyncio.Task[Any]] = set(workers)
            while waiting:
                done, waiting = await asyncio.wait({*waiting, heart}, return_when=asyncio.FIRST_COMPLETED)
                waiting.discard(heart)
                for task in done:
                    task.result()
                if self._lost:
                    raise RunLost
        finally:
            for task in tasks:
                task.cancel()
            # A cancelled trial may already have taken a place.
            await asyncio.gather(*tasks, return_exceptions=True)
            await in_database(server_slots.leave)(server_slots.holder(self.owner, "exam", self.claimed.id))
        await self._conclude()

    async def _until_lost(self, work: Coroutine[Any, Any, None]) -> None:
        """Run one part of the work; that a run was cancelled is not an error."""
        try:
            await work
        except RunLost:
            self._lost = True

    async def _conclude(self) -> None:
        found = {asked: await in_database(exam_runs.grades)(self.claimed.id, asked) for asked in self.claimed.formats}
        verdict, detail = exam_report.concluded(found, self._used, self.session.failing)
        await self._write(exam_runs.renew, self.session.graded)
        await in_database(exam_runs.conclude)(self.claimed.id, self.owner, verdict, detail)

    async def _beat(self) -> None:
        while True:
            await self._write(exam_runs.renew, self.session.graded)
            await asyncio.sleep(BEAT)

    async def _write(self, work: Callable[..., bool], *given: Any) -> None:
        """Write for this run; repeat that while the database fails. Raises RunLost."""
        while True:
            try:
                mine = await in_database(work)(self.claimed.id, self.owner, *given)
                break
            except UNREACHABLE as error:
                log.warning("could not write exam %s, retrying: %s", self.claimed.id, error)
                await asyncio.sleep(RETRY)
        if not mine:
            raise RunLost

    async def _ask(self, case: ExamCase, asked_format: str) -> CaseTrial:
        before = self.claimed.swap_from
        try:
            model = await self._model(self.claimed.profile, case, asked_format)
            first = await self._model(before, case) if before else None
        except ToolsupportError as error:
            return not_offered(str(error))
        self._used[asked_format] = model.request_spec.format
        async with AsyncExitStack() as places:
            # In a fixed order, so that no two exams wait for each other's place.
            for server in sorted(self.claimed.servers):
                await places.enter_async_context(self._place(server))
            return await CaseDialog(first or model, case, then=model if first else None).run()

    async def _model(self, profile: int, case: ExamCase, asked_format: str = "") -> CaseModel:
        """Return a model with the tools of a case. Raises ToolsupportError if the case cannot be run."""
        prepared = await in_database(request_context.request_spec)(profile, case.tools, ChatSettings(tools_on=True))
        if profile == self.claimed.profile and prepared.build != self.claimed.build:
            raise ConfigError("The model changed during the exam.")
        request_spec = case_request.of_case(prepared, case, asked_format)
        if not request_spec.offers_tools:
            raise ConfigError(request_spec.format_reason)
        return CaseModel(prepared.endpoint, request_spec)

    @asynccontextmanager
    async def _place(self, server: int) -> AsyncIterator[None]:
        """Wait for a place on a server, and free it afterwards."""
        owner = server_slots.holder(self.owner, "exam", self.claimed.id)
        while not (place := await in_database(server_slots.take)(server, owner)):
            await asyncio.sleep(LOOK)
        try:
            yield
        finally:
            await in_database(server_slots.release)(place, owner)

    async def _keep(self, graded: GradedTrial) -> None:
        trial = graded.trial
        record = ExamTrialRecord(
            asked_format=graded.asked_format,
            format=self._used.get(graded.asked_format, graded.asked_format),
            case=graded.case.id,
            group=graded.case.group,
            n=graded.n,
            right=trial.grade.right,
            code=trial.grade.code,
            facts=cleaned(trial.grade.facts),
            replies=cleaned(trial.replies),
            duration_ms=trial.duration_ms,
            prompt_tokens=trial.prompt_tokens,
            output_tokens=trial.output_tokens,
        )
        await self._write(exam_runs.add_trial, record, self.session.graded)

"""Requests the answers of comparisons from their models; recorded results answer the calls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.db import InterfaceError, OperationalError

from chat.sentences import sentence
from chat.transcript.turns import comparisons
from chat.transcript.turns.comparisons import ClaimedAnswer
from toolsupport.core.errors import ConfigError, ToolsupportError
from toolsupport.core.exams import exam_report
from toolsupport.core.exams.grading import CODES
from toolsupport.core.types import JSON, ChatSettings
from toolsupport.examination import case_request
from toolsupport.examination.case_dialog import CaseDialog, CaseModel
from toolsupport.registry.models import request_context
from toolsupport.services.claim_loop import ClaimLoop, Work
from toolsupport.services.detection_worker import cleaned

log = logging.getLogger(__name__)

BEAT = 0.5  # seconds between two writes of the text so far
RETRY = 0.5
UNREACHABLE = (OperationalError, InterfaceError)


class ReplayWorker(ClaimLoop):
    """Claims the queued answers of comparisons for one process."""

    what = "replays"
    most = 16

    async def _next(self) -> tuple[int, Work] | None:
        found = await in_database(comparisons.claim)(self.owner)
        return None if found is None else (found.id, self._replay(found))

    async def _release(self) -> None:
        await in_database(comparisons.leave)(self.owner)

    async def _replay(self, claimed: ClaimedAnswer) -> None:
        try:
            ended = await self._asked_for(claimed)
        finally:
            await in_database(comparisons.release)(claimed.id, self.owner)
        if ended is None or not await self._write(comparisons.conclude, claimed.id, ended):
            log.info("replay %s was cancelled or taken over", claimed.id)

    async def _asked_for(self, claimed: ClaimedAnswer) -> JSON | None:
        """Return the end of the answer, with an error if there was one."""
        try:
            return await self._asked(claimed)
        except ToolsupportError as error:
            return {"error": error.words}
        except Exception:
            log.exception("replay %s failed", claimed.id)
            return {"error": sentence("answer_not_requested")}

    async def _asked(self, claimed: ClaimedAnswer) -> JSON | None:
        """Ask the model, and store the text while it streams; None if the answer was cancelled."""
        dialog = await self._dialog(claimed)
        asking = self._spawn(dialog.run())
        try:
            while not asking.done():
                await asyncio.wait([asking], timeout=BEAT)
                if not await self._write(comparisons.progress, claimed.id, cleaned(dialog.replies)):
                    return None
            trial = asking.result()
        finally:
            asking.cancel()
        unknown = CODES[trial.grade.code] is None
        return {
            "format": dialog.format,
            "replies": cleaned(trial.replies),
            "error": exam_report.not_graded(trial.grade) if unknown else "",
            "duration_ms": trial.duration_ms,
            "prompt_tokens": trial.prompt_tokens,
            "output_tokens": trial.output_tokens,
        }

    async def _dialog(self, claimed: ClaimedAnswer) -> CaseDialog:
        """Raises ConfigError or NotFound if the model cannot be asked."""
        settings = ChatSettings(tools_on=True)
        prepared = await in_database(request_context.request_spec)(claimed.profile, claimed.case.tools, settings)
        spec = case_request.of_case(prepared, claimed.case)
        if claimed.case.tools and not spec.offers_tools:
            raise ConfigError(spec.format_reason)
        if claimed.temperature is not None:
            spec = replace(spec, options={**spec.options, "temperature": claimed.temperature})
        return CaseDialog(CaseModel(prepared.endpoint, spec), claimed.case, whole=True)

    async def _write(self, work: Callable[..., bool], answer: int, given: Any) -> bool:
        """Write for this answer; repeat that while the database fails."""
        while True:
            try:
                return await in_database(work)(answer, self.owner, given)
            except UNREACHABLE as error:
                log.warning("could not write replay %s, retrying: %s", answer, error)
                await asyncio.sleep(RETRY)

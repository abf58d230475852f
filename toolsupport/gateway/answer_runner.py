"""Runs the answers of programs within their limits, and stores the counts of their calls."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Coroutine
from contextlib import aclosing, suppress
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.db import DatabaseError, InterfaceError

from toolsupport.config import metrics, traces
from toolsupport.config.traces import TraceSpan
from toolsupport.core.errors import Busy, ToolsupportError
from toolsupport.core.events import Event, Failed, Finished
from toolsupport.core.format_choice import NATIVE
from toolsupport.core.prompt import token_counts
from toolsupport.core.server_refusals import MISCONFIGURED, Refusal
from toolsupport.gateway import first_uses, formatted_answers, model_fallbacks
from toolsupport.gateway.left_out_tools import LeftOutNotice
from toolsupport.gateway.request_preparation import Caller, PreparedRequest
from toolsupport.gateway.request_summary import RequestSummary
from toolsupport.gateway.revoked_callers import RevokedCallers
from toolsupport.registry.knowledge import reasoning_starts, response_schema_faults
from toolsupport.registry.metrics import call_metrics
from toolsupport.registry.people import quota_use
from toolsupport.registry.people.quota_use import CountedRequest
from toolsupport.registry.people.quotas import QuotaHolder
from toolsupport.registry.servers import missing_flags
from toolsupport.services import background_jobs, refusal_learning
from toolsupport.services.refusal_learning import ObservedRefusal

log = logging.getLogger(__name__)


class ReplySlots:
    """Counts the answers in progress in this process, per key (per person without one) and in total."""

    def __init__(self) -> None:
        self._taken: Counter[Caller] = Counter()
        self.empty = asyncio.Event()
        self.empty.set()

    def take(self, caller: Caller) -> None:
        """Reserve a slot. Raises Busy with the name of the limit."""
        in_all, for_one = settings.ENV["TOOLSUPPORT_RUNNING_TURNS"], limit_of(caller)
        if self._taken[caller] >= for_one:
            whose, limit = ("with this key", "key") if caller.key else ("for you", "person")
            raise Busy(
                f"{for_one} answers {whose} are running, which is the maximum. Try again when one has ended.", limit
            )
        if self._taken.total() >= in_all:
            raise Busy(f"{in_all} answers are running, which is the maximum of this server. Try again soon.", "process")
        self._taken[caller] += 1
        self.empty.clear()
        metrics.PROGRAMS.set(self._taken.total())

    def callers(self) -> Collection[Caller]:
        """Return those who have an answer in progress."""
        return tuple(self._taken)

    def leave(self, caller: Caller) -> None:
        self._taken[caller] -= 1
        self._taken += Counter()  # drops callers without a running answer
        if not self._taken:
            self.empty.set()
        metrics.PROGRAMS.set(self._taken.total())


def limit_of(caller: Caller) -> int:
    """Return how many answers this caller may have at once in this process."""
    return int(settings.ENV["TOOLSUPPORT_ANSWERS_PER_KEY" if caller.key else "TOOLSUPPORT_TURNS_PER_PERSON"])


places = ReplySlots()
revoked = RevokedCallers(places.callers)
REVOKED = Failed("cut", "This answer was ended: its API key or its account does not work any more.")


async def drained(seconds: float) -> None:
    """Give running answers some time to finish."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await places.empty.wait()


async def answer(prepared: PreparedRequest, tally: RequestSummary) -> AsyncGenerator[list[Event], None]:
    """Yield batches like attempts.answer, and empty ones while a test continues.

    Raises Busy, or QuotaSpent, before the first one.
    """
    places.take(prepared.caller)
    left = False
    last: Event | None = None
    counted: CountedRequest | None = None
    span = traces.begin("invoke_agent", operation="invoke_agent", model=prepared.request_spec.model)
    traces.enter(span)
    try:
        counted = await spend(prepared.limited)
        async with aclosing(_tested_first(prepared, tally)) as batches:
            async for batch in batches:
                if revoked.has(prepared.caller):
                    batch = [REVOKED]
                last = batch[-1] if batch else last
                if batch and isinstance(last, Finished | Failed) and not left:
                    # The program may ask again as soon as it has read the end.
                    left = True
                    places.leave(prepared.caller)
                yield batch
                if last is REVOKED:
                    break
    finally:
        if not left:
            places.leave(prepared.caller)
        _close(span, last)
        await to_end(_record(prepared, tally, counted, last))


async def to_end(work: Coroutine[Any, Any, None]) -> None:
    """Wait for work that continues if the request is cancelled: most programs disconnect when they have read enough."""
    await asyncio.shield(background_jobs.current().spawn(work))


async def _record(
    prepared: PreparedRequest, tally: RequestSummary, counted: CountedRequest | None, last: Event | None
) -> None:
    """Store the usage and the findings of an answer; `last` is the last event that was passed on."""
    finished, used = isinstance(last, Finished), tally.prompt_tokens + tally.output_tokens
    nothing = isinstance(last, Failed) and not (tally.written or used)
    if counted and not nothing and not (finished and tally.counted):
        used = max(used, _estimated(prepared, tally.written))
    await settle(counted, used, given_back=nothing)
    await _count(tally.answered_by or prepared, tally, finished)


def _estimated(prepared: PreparedRequest, written: int) -> int:
    """Estimate the tokens of an answer that its server did not count: it counts at the end, and not every server does.

    Without this, a program that cuts each stream before its end would have no quota of tokens.
    """
    return token_counts.of_characters(token_counts.characters(prepared.request_spec, prepared.log) + written)


def _close(span: TraceSpan, last: Event | None) -> None:
    """End the span of an answer, whose program may have disconnected."""
    if isinstance(last, Failed):
        span.fail(last.kind)
    span.add(outcome="done" if isinstance(last, Finished) else "failed" if isinstance(last, Failed) else "stopped")
    span.end()


async def spend(limited: tuple[QuotaHolder, ...]) -> CountedRequest | None:
    """Count a request for those with a quota; without one the database is not asked. Raises QuotaSpent."""
    return await in_database(quota_use.spend)(limited) if limited else None


async def settle(counted: CountedRequest | None, tokens: int, *, given_back: bool) -> None:
    """Count the tokens of an answer; an error here never fails it."""
    if counted is None:
        return
    try:
        await in_database(quota_use.settle)(counted, tokens, given_back=given_back)
    except (DatabaseError, InterfaceError):
        log.exception("could not count the tokens of a request for its quota")


async def _tested_first(prepared: PreparedRequest, tally: RequestSummary) -> AsyncGenerator[list[Event], None]:
    """Yield the batches of an answer. An untested model is tested before it."""
    if prepared.untested:
        async with aclosing(first_uses.pauses(prepared)) as pauses:
            async for _ in pauses:
                yield []
        try:
            prepared = await first_uses.prepared_again(prepared, tally)
        except ToolsupportError as error:
            yield [first_uses.failed(error)]
            return
    notice = LeftOutNotice(prepared.notice, tally)
    tally.answered_by = prepared
    answered = model_fallbacks.answer if prepared.has_fallbacks else formatted_answers.answer
    async with aclosing(answered(prepared, tally)) as batches:
        async for batch in batches:
            yield notice.added_to(batch)


async def _count(prepared: PreparedRequest, tally: RequestSummary, finished: bool) -> None:
    """Store the outcomes of the calls and a missing setting of the server; an error here never fails an answer."""
    counts = tally.calls.taken()
    try:
        if counts:
            await in_database(call_metrics.add)(prepared.profile, counts)
        if tally.begins_inside is not None:
            await in_database(reasoning_starts.learn)(prepared.profile, prepared.build, tally.begins_inside)
        if tally.schema_fault is not None:
            await in_database(response_schema_faults.learn)(prepared.profile, prepared.build, tally.schema_fault)
        if tally.misconfigured is not None:
            refusal = Refusal(MISCONFIGURED, tally.misconfigured.rule, tally.misconfigured.message)
            await in_database(refusal_learning.record_refusal)(
                ObservedRefusal(prepared.profile, refusal, tally.misconfigured.status)
            )
        elif finished and prepared.lacks_flag and prepared.request_spec.offers_tools and tally.format == NATIVE:
            await in_database(missing_flags.solved)(prepared.profile)
    except (DatabaseError, InterfaceError):
        log.exception("could not write the call counts of a gateway request")

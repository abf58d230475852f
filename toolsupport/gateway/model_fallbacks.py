"""Answers with a fallback model when the model that a program asked for cannot answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from channels.db import database_sync_to_async as in_database

from toolsupport.core import model_fallbacks
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.events import Event, Failed
from toolsupport.gateway import formatted_answers, request_preparation
from toolsupport.gateway.request_preparation import PreparedRequest
from toolsupport.gateway.request_summary import RequestSummary
from toolsupport.registry.metrics import call_metrics
from toolsupport.services.fallback_search import FallbackSearch, NextModel

NONE_CAN = "{} No fallback model can answer: {}."


async def answer(prepared: PreparedRequest, tally: RequestSummary) -> AsyncGenerator[list[Event], None]:
    """Yield batches like attempts.answer; before anything is passed on, a failure may lead to another model."""
    search = FallbackSearch(prepared.profile, prepared.watch.server if prepared.watch else None)
    asked: PreparedRequest | None = prepared
    while asked is not None:
        present, asked, silent = asked, None, True
        async with aclosing(formatted_answers.answer(present, tally)) as batches:
            async for batch in batches:
                failed = _failure(batch) if silent else None
                if failed is not None:
                    asked, failed = await _after(failed, present, search, tally)
                    if asked is not None:
                        break
                    batch = [*batch[:-1], failed]
                silent = silent and not model_fallbacks.shown(batch)
                yield batch


def _failure(batch: Sequence[Event]) -> Failed | None:
    """Return the failure that a batch ends with, if nothing else of the answer is in it."""
    last = batch[-1] if batch else None
    return last if isinstance(last, Failed) and not model_fallbacks.shown(batch) else None


async def _after(
    failed: Failed, present: PreparedRequest, search: FallbackSearch, tally: RequestSummary
) -> tuple[PreparedRequest | None, Failed]:
    """Return the request to the next model, and the failure for the program if there is none."""
    found = await search.after(failed)
    while found.profile is not None and not found.repeat:
        following = await _prepared(present, found, search)
        if following is not None:
            await _take(following, found.name, tally)
            return following, failed
        found = await search.instead()
    if found.profile is not None:
        return present, failed
    message = NONE_CAN.format(failed.message, found.skipped) if found.skipped else failed.message
    return None, replace(failed, message=message)


async def _prepared(present: PreparedRequest, found: NextModel, search: FallbackSearch) -> PreparedRequest | None:
    """Return the program's request for another model, None where that model cannot be asked for it."""
    asked = replace(present.asked, model=str(found.profile))
    try:
        made = await in_database(request_preparation.prepare)(asked, present.caller, True)
    except ToolsupportError:
        return None
    return replace(made, endpoint=search.limited(made.endpoint))


async def _take(following: PreparedRequest, name: str, tally: RequestSummary) -> None:
    """Let the summary describe the model that answers from now on; the counts of the first one stay with it."""
    before, counts = tally.answered_by, tally.calls.taken()
    if counts and before is not None:
        await in_database(call_metrics.add)(before.profile, counts)
    tally.answered_by, tally.fallback = following, name
    tally.format, tally.source, tally.left_out = following.request_spec.format, following.source, following.left_out
    tally.misconfigured, tally.begins_inside, tally.forced, tally.format_reason = None, None, "", ""
    tally.settings_left_out = ()

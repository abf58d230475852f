"""Lets an answer wait until its model was tested with tools, once however many programs ask."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from channels.db import database_sync_to_async as in_database

from toolsupport.core import first_use_rules
from toolsupport.core.errors import Busy, ConfigError, NotFound, ToolsupportError
from toolsupport.core.events import Failed
from toolsupport.gateway import request_preparation
from toolsupport.gateway.error_replies import NOT_MET
from toolsupport.gateway.request_errors import ToolChoiceNotMet
from toolsupport.gateway.request_preparation import PreparedRequest
from toolsupport.gateway.request_summary import RequestSummary
from toolsupport.registry.testing import first_uses
from toolsupport.services import background_jobs

# Values of `x-toolsupport-first-use`: for a stream that began earlier, a decided and an undecided test.
TESTING, TESTED, UNDECIDED = "testing", "tested", "undecided"


async def pauses(prepared: PreparedRequest) -> AsyncGenerator[None, None]:
    """Test the model; yield after each long silence until there is a finding, or the test takes too long."""
    jobs = background_jobs.current()
    try:
        test = await in_database(first_uses.open_for)(prepared.profile, prepared.caller.person)
    except (Busy, ConfigError):
        return
    if test is None:
        return
    jobs.tester.look()
    async with aclosing(jobs.first_uses.until_settled(test)) as silences:
        async for _ in silences:
            yield


async def prepared_again(prepared: PreparedRequest, tally: RequestSummary) -> PreparedRequest:
    """Prepare the request with the findings of the test. Raises as `prepare` does."""
    again = await in_database(request_preparation.prepare)(prepared.asked, prepared.caller, tested=True)
    tally.format, tally.source, tally.left_out = again.request_spec.format, again.source, again.left_out
    tally.first_use = UNDECIDED if first_use_rules.worth_testing(again.request_spec) else TESTED
    return again


def failed(error: ToolsupportError) -> Failed:
    """Return the failure of an answer that could not be prepared again."""
    kinds = {ToolChoiceNotMet: NOT_MET, NotFound: "model_missing"}
    return Failed(kinds.get(type(error), "server"), str(error))

"""The status of a server from its answers in chats and to programs."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from channels.db import database_sync_to_async as in_database

from tests.factories import ModelProfileFactory, ServerFactory
from tests.toolsupport.stand_in import Servers
from toolsupport.core.events import Event, Failed, Finished, TextDelta
from toolsupport.core.types import ChatSettings
from toolsupport.models import ModelProfile, Server
from toolsupport.providers import ModelReport, ServerReport
from toolsupport.registry.models import picker, request_context
from toolsupport.registry.servers import reachability
from toolsupport.services import passive_health_checks, refresh

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]

DENIED = Failed("model_missing", "Gone.", 404, '{"error":"model \'m:1b\' not found"}')
DOWN = Failed("unreachable", "The server at http://box:1 does not answer (connection refused).")


async def answered(profile: int, *events: Event) -> Server:
    """The server after an answer of its model, which brought these events."""

    async def batches() -> AsyncGenerator[list[Event], None]:
        for event in events:
            yield [event]

    watch = (await in_database(request_context.request_spec)(profile, (), ChatSettings())).watch
    passed = [batch[-1] async for batch in passive_health_checks.watched(watch, batches())]
    assert passed == list(events)
    return await in_database(Server.objects.get)(profiles=profile)


@in_database
def model(**facts: object) -> int:
    return ModelProfileFactory(name="m:1b", server=ServerFactory(base_url="http://box:1", **facts)).pk


@in_database
def why_not(profile: int) -> tuple[str, str]:
    choice = next(choice for choice in picker.choices() if choice.id == profile)
    return choice.trouble, choice.why_not


async def test_a_chat_that_gets_no_connection_marks_the_server_at_once_and_the_first_success_ends_that():  # M11
    profile = await model()
    server = await answered(profile, DOWN)
    assert (server.reachable, server.fault, server.failures) == (False, "unreachable", 1)
    assert server.next_check_at is not None
    assert (await why_not(profile))[0] == "Offline"
    assert (await answered(profile, DOWN)).failures == 1, "answers that fail at the same time are one failure"
    server = await answered(profile, TextDelta("Hi."), Finished("stop"))
    assert (server.reachable, server.fault, server.failures, server.last_error) == (True, "", 0, "")
    assert await why_not(profile) == ("", "")


async def test_a_wrong_key_is_seen_at_once_and_no_other_failure_is_taken_for_one():  # M11
    profile = await model()
    assert (await answered(profile, Failed("unauthorized", "Not you.", 403))).reachable is True
    assert (await answered(profile, Failed("server", "It failed.", 500))).reachable is True
    server = await answered(profile, Failed("unauthorized", "Another key.", 401))
    assert (server.fault, server.next_check_at) == ("wrong_key", None)
    assert (await why_not(profile))[0] == "Wrong key"


async def test_a_model_that_its_server_denies_is_gone_at_once_until_a_listing_has_it(servers_out_there: Servers):
    servers_out_there.reports["http://box:1"] = ServerReport("1", (ModelReport("m:1b"),))
    profile = await model()
    assert (await answered(profile, DENIED)).reachable is True
    assert (await why_not(profile))[0] == "Gone"
    await refresh.refresh((await in_database(ModelProfile.objects.get)(pk=profile)).server_id)
    assert await why_not(profile) == ("", "")


async def test_a_connection_lost_in_mid_answer_has_the_server_asked_soon(servers_out_there: Servers):
    profile = await model()
    server = await answered(profile, TextDelta("Half"), Failed("cut", "It broke off."))
    assert server.reachable is True
    await refresh.refresh_due()
    await server.arefresh_from_db()
    assert (server.reachable, server.failures) == (False, 1)


async def test_a_silent_server_is_asked_again_after_growing_pauses_by_one_process(servers_out_there: Servers):  # M11
    assert [reachability.pause(failures, 1.0) for failures in (1, 2, 3, 7, 99)] == [5, 10, 20, 300, 300]
    server = (await in_database(ServerFactory)(base_url="http://box:1")).pk
    waits = []
    for _ in range(3):
        await refresh.refresh(server)
        row = await in_database(Server.objects.get)(pk=server)
        assert row.next_check_at is not None and row.checked_at is not None
        waits.append((row.next_check_at - row.checked_at).total_seconds())
    assert [4 <= waits[0] <= 6, 8 <= waits[1] <= 12, 16 <= waits[2] <= 24] == [True] * 3
    assert await in_database(reachability.claim_due)() == ()
    await in_database(reachability.check_soon)(server)
    assert await in_database(reachability.claim_due)() == (server,)
    assert await in_database(reachability.claim_due)() == ()

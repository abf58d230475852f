"""A call of a reply that ended too early, or whose text no file can hold, runs nothing in a turn."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async as in_database

from chat.models import Conversation, ToolRun
from tests.chat.turns.test_constrained_retry import ANSWER, answered
from tests.chat.turns.test_constrained_retry import conversation as conversation
from tests.toolsupport.gateway.test_constrained import says
from toolsupport.core.formats import FORMATS
from toolsupport.core.types import ToolCall
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db(transaction=True)
CALL = ToolCall("a", "write_file", {"path": "a.txt", "content": "one\ntwo (3)\n"})


def ended_runs() -> list[tuple[str, str]]:
    return list(ToolRun.objects.order_by("id").values_list("name", "status"))


@pytest.mark.asyncio
@pytest.mark.parametrize(("share", "finish"), [(0.3, "MAX_TOKENS"), (0.6, "incomplete"), (0.9, "content_filter")])
@pytest.mark.parametrize("written", ["hermes", "qwen3_coder_xml", "pythonic"])
async def test_no_cut_runs_a_call(conversation: Conversation, written: str, share: float, finish: str) -> None:  # F3
    for name, value in {"tools": False, "format": written}.items():
        claim = NewOverride(conversation.profile_id or 0, name, value, actor=conversation.owner_id, reason="Tried.")
        await in_database(overrides.add)(claim)
    whole = FORMATS[written].write_calls([CALL])
    reply = whole[: int(len(whole) * share)]
    turn, bodies = await answered(conversation, says({"content": f"I look.\n{reply}"}, finish), ANSWER)
    assert (turn.status, turn.format) == ("done", written), turn.reason
    found = await in_database(ended_runs)()
    assert {status for _, status in found} == {"rejected"} and len(bodies) == 2, found


@pytest.mark.asyncio
async def test_a_nul_in_a_file_is_refused_with_the_reason(conversation: Conversation) -> None:
    for name, value in {"tools": False, "format": "hermes"}.items():
        claim = NewOverride(conversation.profile_id or 0, name, value, actor=conversation.owner_id, reason="Tried.")
        await in_database(overrides.add)(claim)
    reply = FORMATS["hermes"].write_calls([ToolCall("a", "write_file", {"path": "a.txt", "content": "one\0two"})])
    turn, bodies = await answered(conversation, says({"content": reply}, "stop"), ANSWER)
    assert turn.status == "done", turn.reason
    assert await in_database(ended_runs)() == [("write_file", "rejected")]
    assert "'content' holds a NUL character (U+0000)" in str(bodies[1])

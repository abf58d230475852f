"""Which process has the whole of what grows."""

from __future__ import annotations

import pytest

from chat.models import Message, ToolRun, Turn
from chat.transcript.turns.turn_owners import writer_of
from tests.factories import ConversationFactory, ModelProfileFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("finished", "tool", "writer"),
    [(False, "", "first"), (True, "running", "first"), (True, "done", ""), (True, "", "")],
)
def test_whoever_writes_a_message_or_runs_its_tool(finished: bool, tool: str, writer: str) -> None:
    conversation, profile = ConversationFactory(), ModelProfileFactory()
    turn = Turn.objects.create(
        conversation=conversation, profile=profile, client_id="c", status="running", owner="first"
    )
    message = Message.objects.create(conversation=conversation, turn=turn, role="assistant", finished=finished)
    if tool:
        ToolRun.objects.create(turn=turn, message=message, call_id="1", name="bash", status=tool)
    assert writer_of(message.pk) == writer
    Turn.objects.filter(pk=turn.pk).update(status="done")
    assert writer_of(message.pk) == ""

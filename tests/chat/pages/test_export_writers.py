"""An exported conversation is complete, readable, and contains no private data of others."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from chat.models import Conversation
from chat.pages import export_writers
from chat.tools import policy
from chat.transcript.conversations import branches
from chat.transcript.conversations.conversations import say
from chat.transcript.conversations.export import export
from chat.transcript.turn_store import TurnStore
from chat.transcript.turns import record, regenerate
from chat.transcript.turns.end import TurnOutcome, end
from chat.transcript.turns.sent_message import SentMessage
from tests.chat.started_turns import accept, reply_of
from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory
from toolsupport.core.errors import NotFound
from toolsupport.core.types import ToolCall, ToolResult
from toolsupport.registry.servers import key_encryption

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    """A question, an answer with a tool, and a second version of that answer, which is shown."""
    server = ServerFactory(name="attic", base_url="http://10.1.2.3:11434", api_key=key_encryption.encrypt("sk-secret"))
    profile = ModelProfileFactory(server=server, name="phi-x:7b")
    made: Conversation = ConversationFactory(
        owner=alice, profile=profile, title="Tea & more", settings={"system": "Be brief.", "inner": "hidden"}
    )
    accepted = accept(alice, str(made.pk), SentMessage("c1", "What is in it?"), "me")
    asked = record.RequestedCall(ToolCall("x", "read_file", {"path": "a.md"}), "native", "A1")
    store = TurnStore("me", accepted.turn)
    record.finish_reply(store, reply_of(accepted).id, record.FinishedReply("First.", "let me see", 5, (asked,)))
    call = record.start_call(store, "x").thing.call
    record.finish_call(store, int(call.id), policy.CallOutcome("done", ToolResult("```\nfenced\n```"), 12))
    end(TurnStore("me", accepted.turn), TurnOutcome("done", reply=(reply_of(accepted).id, "First.", "let me see", 5)))
    anew = accept(alice, str(made.pk), regenerate.RegenerateRequest("c2", reply_of(accepted).id), "me")
    end(
        TurnStore("me", anew.turn),
        TurnOutcome("stopped", "Stopped by you.", reply=(reply_of(anew).id, "Second.", "", None)),
    )
    say(made, "tools_refused", {"model": "phi-x:7b"})
    return made


# C7
def test_json_has_a_version_and_every_branch(alice: User, conversation: Conversation) -> None:
    whole = json.loads(export_writers.to_json(export(alice, str(conversation.pk))))
    assert (whole["format"], whole["version"], whole["title"]) == ("toolsupport.conversation", 1, "Tea & more")
    asked, first, second, notice = whole["messages"]
    assert [entry["role"] for entry in whole["messages"]] == ["user", "assistant", "assistant", "notice"]
    assert first["parent"] == second["parent"] == asked["id"]
    assert whole["shown"] == [asked["id"], second["id"], notice["id"]]
    assert (first["model"], first["ended"], second["ended"]) == ("attic/phi-x:7b", "done", "stopped")
    [call] = first["calls"]
    assert (call["name"], call["arguments"], call["result"]) == ("read_file", {"path": "a.md"}, "```\nfenced\n```")
    assert (call["status"], call["duration_ms"]) == ("done", 12)
    assert notice["code"] == "tools_refused"


def test_thoughts_only_where_they_are_asked_for(alice: User, conversation: Conversation) -> None:
    for write in (export_writers.to_json, export_writers.markdown):
        branches.select(alice, str(conversation.pk), json_ids(alice, conversation)[1])
        assert "let me see" not in write(export(alice, str(conversation.pk)))
        assert "let me see" in write(export(alice, str(conversation.pk), thinking=True))


def json_ids(alice: User, conversation: Conversation) -> list[int]:
    return [message.id for message in export(alice, str(conversation.pk)).messages]


# C7
def test_markdown_tells_the_branch_that_is_shown(alice: User, conversation: Conversation) -> None:
    text = export_writers.markdown(export(alice, str(conversation.pk)))
    assert text.startswith("# Tea & more\n")
    for wanted in ("## You · ", "What is in it?", "## attic/phi-x:7b · ", "Second.", "*The answer was stopped.*"):
        assert wanted in text, wanted
    assert "First." not in text
    assert "*The server refused tools for phi-x:7b." in text
    branches.select(alice, str(conversation.pk), json_ids(alice, conversation)[1])
    text = export_writers.markdown(export(alice, str(conversation.pk)))
    assert "**read_file** · done · 12 ms" in text
    assert "````\n```\nfenced\n```\n````" in text


def test_only_the_last_message_of_an_answer_tells_how_it_ended(alice: User, conversation: Conversation) -> None:
    accepted = accept(alice, str(conversation.pk), SentMessage("c3", "Read both."), "me")
    store = TurnStore("me", accepted.turn)
    asked = record.RequestedCall(ToolCall("y", "read_file", {"path": "b.md"}), "native", "A1")
    record.finish_reply(store, reply_of(accepted).id, record.FinishedReply("One moment.", "", None, (asked,)))
    call = record.start_call(store, "y").thing.call
    record.finish_call(store, int(call.id), policy.CallOutcome("done", ToolResult("b"), 12))
    second = record.start_reply(store).thing.message.id
    end(store, TurnOutcome("stopped", "by_you", reply=(second, "It", "", None)))
    found = export(alice, str(conversation.pk))
    written = export_writers.markdown(found).partition("Read both.")[2]
    assert written.count("The answer was stopped.") == 1 and written.rstrip().endswith("*The answer was stopped.*")
    assert [entry.get("ended", "") for entry in json.loads(export_writers.to_json(found))["messages"]][-2:] == [
        "",
        "stopped",
    ]


def test_addresses_keys_and_inner_settings_stay_here(alice: User, conversation: Conversation) -> None:
    found = export(alice, str(conversation.pk), thinking=True)
    for text in (export_writers.to_json(found), export_writers.markdown(found)):
        assert not re.search(r"10\.1\.2\.3|sk-secret|hidden|alice", text)
    assert json.loads(export_writers.to_json(found))["settings"] == {"system": "Be brief."}


def test_a_foreign_conversation_looks_absent(bob: User, conversation: Conversation) -> None:
    with pytest.raises(NotFound):
        export(bob, str(conversation.pk))


def test_images_are_named(alice: User, conversation: Conversation) -> None:
    conversation.messages.filter(role="user").update(attachments=["images/cat.png"])
    found = export(alice, str(conversation.pk))
    assert "*Attached: images/cat.png*" in export_writers.markdown(found)
    assert json.loads(export_writers.to_json(found))["messages"][0]["images"] == ["images/cat.png"]
    assert "images" not in json.loads(export_writers.to_json(found))["messages"][1]


@given(st.text(alphabet="`\nab~", max_size=40))
def test_no_content_ends_its_own_block(text: str) -> None:
    fence, *inside, end = export_writers.fenced(text).split("\n")
    assert fence == end and fence not in inside
    assert "\n".join(inside) == text

"""The card of a call names each part of its result by its kind, and shows the images that were kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.mcp.client.results import ResultReader
from chat.models import Conversation
from chat.templatetags.readable import typed_parts
from chat.tools.files.workspace import Workspace
from chat.transcript.conversations import conversations
from chat.transcript.messages.mcp_result_parts import ResultPart, pictures
from chat.transcript.settings import turn_settings
from tests.chat.mcp.client.hostile import KINDS
from tests.factories import ModelProfileFactory

PNG = b"\x89PNG\r\n\x1a\n"


def test_parts_are_named_and_nothing_is_lost(tmp_path: Path) -> None:
    result = ResultReader("box", Workspace(tmp_path)).read({"content": KINDS, "structuredContent": {"a": 1}}).content
    found = typed_parts(result)
    kinds = ["text", "image", "audio", "audio", "resource", "resource", "resource link", "structured"]
    assert [part.kind for part in found] == kinds
    assert re.sub(r"\s", "", "".join(part.text for part in found)) == re.sub(r"\s", "", result)
    (picture,) = pictures(result)
    assert (tmp_path / picture).read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    "result",
    [
        "plain words",
        "[image: image/png, 8 bytes, kept in the chat's files as ../secret.png]",
        "[image: image/png, 8 bytes, kept in the chat's files as mcp/../../0123456789ab.png]",
        "[audio: audio/wav, kept in the chat's files as mcp/box/0123456789ab.png]",
        "",
    ],
)
def test_only_kept_images_are_pictures(result: str) -> None:
    assert not pictures(result)


def test_plain_words_are_one_part() -> None:
    assert typed_parts("One [image] line.\n\nAnother.") == [ResultPart("text", "One [image] line.\n\nAnother.")]


def given(person: User, result: str) -> int:
    conversation = conversations.create(person)
    files = turn_settings.workspace(conversation)
    files.write("mcp/box/0123456789ab.png", [PNG])
    files.write("mcp/box/ba9876543210.png", [PNG])
    row = Conversation.objects.get(pk=conversation)
    turn = row.turns.create(client_id="1", profile=ModelProfileFactory(), status="done")
    message = row.messages.create(role="assistant", turn=turn)
    return int(turn.tool_runs.create(message=message, call_id="1", name="box__draw", result=result).pk)


@pytest.mark.django_db
def test_only_what_the_result_names_is_shown_to_its_owner(client: Client, alice: User, bob: User) -> None:
    run = given(alice, "[image: image/png, 8 bytes, kept in the chat's files as mcp/box/0123456789ab.png]")
    paths = ("mcp/box/0123456789ab.png", "mcp/box/ba9876543210.png", "../secret.png", "")
    client.force_login(alice)
    answers = [client.get(f"/chat/calls/{run}/picture/", {"path": path}) for path in paths]
    assert [answer.status_code for answer in answers] == [200, 404, 404, 404]
    assert (answers[0].content, answers[0].headers["Content-Type"]) == (PNG, "image/png")
    client.force_login(bob)
    assert client.get(f"/chat/calls/{run}/picture/", {"path": paths[0]}).status_code == 404

"""The parameters of addresses: their owners, and how tests make one."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from chat.models import Conversation, ResultTable
from chat.transcript.conversations import conversations
from chat.transcript.settings import turn_settings
from tests.chat.finished_turns import asked
from tests.factories import (
    McpServerFactory,
    McpToolFactory,
    ModelProfileFactory,
    ServerFactory,
    UserFactory,
)
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.cases import ExamSuite
from toolsupport.models import Family, Passkey
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.databases.sql_sources import NewSource
from toolsupport.registry.exams import exam_runs, team_exams
from toolsupport.registry.exams.exam_runs import ExamRequest
from toolsupport.registry.knowledge import event_log
from toolsupport.registry.people import api_keys
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest

Made = Callable[[User], Any]


@dataclass(frozen=True)
class Kind:
    """A parameter: how to make one's own, somebody else's, and one that does not exist.

    `shared` things belong to the site: whoever may see one may see all.
    """

    own: Made
    foreign: Made
    absent: Made
    shared: bool = False


def shared(make: Callable[[], Any]) -> Kind:
    return Kind(lambda _: make(), lambda _: make(), lambda _: 987_654_321, shared=True)


# Where the result of a call says that an image was kept.
KEPT = "mcp/box/0123456789ab.png"

# A parameter that is not in this table fails the test: whoever adds one says here to whom its thing belongs.
KINDS = {
    "conversation_id": Kind(
        own=lambda person: with_picture(conversations.create(person)),
        foreign=lambda _: conversations.create(UserFactory(role="user")),
        absent=lambda _: str(uuid.uuid4()),
    ),
    "question_id": Kind(
        own=lambda person: asked_in(conversations.create(person)),
        foreign=lambda _: asked_in(conversations.create(UserFactory(role="user"))),
        absent=lambda _: 987_654_321,
    ),
    "message_id": Kind(
        own=lambda person: answered_in(str(conversations.latest(person))),
        foreign=lambda _: answered_in(conversations.create(UserFactory(role="user"))),
        absent=lambda _: 987_654_321,
    ),
    "turn_id": Kind(
        own=lambda person: turn_in(conversations.create(person)),
        foreign=lambda _: turn_in(conversations.create(UserFactory(role="user"))),
        absent=lambda _: 987_654_321,
    ),
    "run_id": Kind(
        own=lambda person: table_in(conversations.create(person)),
        foreign=lambda _: table_in(conversations.create(UserFactory(role="user"))),
        absent=lambda _: 987_654_321,
    ),
    "source_id": shared(lambda: sql_sources.add(NewSource(f"db{uuid.uuid4().hex[:8]}", "sqlite", "/nowhere"))),
    "shared_id": Kind(
        own=lambda person: shared_with(person),
        foreign=lambda _: conversations.create(UserFactory(role="user")),
        absent=lambda _: str(uuid.uuid4()),
    ),
    "foreign_id": Kind(
        own=lambda _: conversations.create(UserFactory(role="user")),
        foreign=lambda _: conversations.create(UserFactory(role="user")),
        absent=lambda _: str(uuid.uuid4()),
        shared=True,
    ),
    "model_id": shared(lambda: ModelProfileFactory().pk),
    "detection_id": shared(lambda: detections.open_test(DetectionRequest(ModelProfileFactory().pk, "page")).id),
    "exam_id": shared(lambda: exam_runs.open_run(ExamRequest(ModelProfileFactory().pk, SUITES["quick"]))),
    "team_exam_id": shared(lambda: a_team_exam()),
    "team_case_id": shared(lambda: team_exams.cases(a_team_exam())[0].id),
    "case_id": Kind(lambda _: "single_1", lambda _: "single_2", lambda _: "nope", shared=True),
    "backup": Kind(lambda _: a_backup(), lambda _: a_backup(), lambda _: "site-19990101-000000.tar", shared=True),
    "profile_id": shared(lambda: ModelProfileFactory().pk),
    "entry_id": shared(lambda: told_of(ModelProfileFactory().pk)),
    "ending": Kind(lambda _: "csv", lambda _: "json", lambda _: "xls", shared=True),
    "key_id": Kind(
        own=lambda person: key_of(person),
        foreign=lambda _: key_of(UserFactory(role="user")),
        absent=lambda _: 987_654_321,
    ),
    "passkey_id": Kind(
        own=lambda person: passkey_of(person),
        foreign=lambda _: passkey_of(UserFactory(role="user")),
        absent=lambda _: 987_654_321,
    ),
    "mcp_server_id": shared(lambda: McpServerFactory().pk),
    "mcp_tool_id": shared(lambda: McpToolFactory().pk),
    "server_id": shared(lambda: ServerFactory().pk),
    "family_id": shared(lambda: Family.objects.create(name=uuid.uuid4().hex, patterns=[uuid.uuid4().hex]).pk),
    "person_id": shared(lambda: UserFactory(role="user").pk),
}


def shared_with(reader: User) -> str:
    conversation = conversations.create(UserFactory(role="user"))
    Conversation.objects.get(pk=conversation).shares.create(reader=reader)
    return conversation


def a_team_exam() -> int:
    return team_exams.put(ExamSuite(uuid.uuid4().hex, SUITES["quick"].cases[:1]), None)


def told_of(profile: int) -> int:
    return event_log.record(event_log.HistoryEvent("override", profile, "tools"))


def with_picture(conversation: str) -> str:
    turn_settings.workspace(conversation).write("there.png", [b"\x89PNG\r\n\x1a\n"])
    return conversation


def answered_in(conversation: str) -> int:
    row = Conversation.objects.get(pk=conversation)
    turn = row.turns.create(client_id=uuid.uuid4().hex, profile=ModelProfileFactory(), status="done")
    return row.messages.create(role="assistant", content="Yes.", turn=turn).pk


def turn_in(conversation: str) -> int:
    row = Conversation.objects.get(pk=conversation)
    row.profile = ModelProfileFactory()
    return asked(row, "What is in notes.md?").pk


def key_of(person: User) -> int:
    api_keys.create(person.pk, "a program")
    return api_keys.listed(person.pk)[0].id


def passkey_of(person: User) -> int:
    names = {"name": "Phone", "site": "localhost", "credential": uuid.uuid4().hex, "handle": "handle"}
    return Passkey.objects.create(person=person, **names).pk


def asked_in(conversation: str) -> int:
    row = Conversation.objects.get(pk=conversation)
    return row.questions.create(kind="approval", text="Write it?", options=["once", "deny"]).pk


def table_in(conversation: str) -> int:
    row = Conversation.objects.get(pk=conversation)
    message = row.messages.get(pk=answered_in(conversation))
    said = f"[image: image/png, kept as {KEPT}]"
    run = row.turns.get().tool_runs.create(message=message, call_id="1", name="execute_sql", result=said)
    turn_settings.workspace(conversation).write(KEPT, [b"\x89PNG\r\n\x1a\n"])
    ResultTable.objects.create(run=run, csv="a\n1\n")
    return run.pk


def a_backup() -> str:
    """The name of a file that looks like a backup."""
    folder = Path(settings.DATA_DIR) / "backups"
    folder.mkdir(exist_ok=True)
    (folder / "site-20261103-120000.tar").write_bytes(b"a tar")
    return "site-20261103-120000.tar"

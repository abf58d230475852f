"""The data of a person is deleted from every table; what must stay has no name."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as site_settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import ForeignObjectRel, Model
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, Grant, Memory, Message, Prompt, RawExchange, Share, ToolRun, Turn
from chat.statuses import TurnStatus
from chat.transcript.conversations.conversations import say
from chat.transcript.people import deletion
from chat.transcript.settings import turn_settings
from chat.turns import person_deletion, retention
from tests.factories import ConversationFactory, ModelProfileFactory, OverrideFactory, UserFactory
from toolsupport.core.errors import ConfigError, NotAllowed
from toolsupport.core.quota_rules import PERSON, Quota
from toolsupport.models import (
    Audit,
    ExternalIdentity,
    Passkey,
    ReadMark,
    RecoveryCode,
    SecondFactor,
    SecurityEvent,
    SignInDevice,
)
from toolsupport.registry.people import accounts, api_keys, audit_log, quotas
from toolsupport.registry.people.deletion import DeletionOrder, close_account

COMMITTED = pytest.mark.django_db(transaction=True)  # the deletion reaches the rows from the database's thread
CANARY = "kingfisher-71"
NAME = "zora.quill"
YES = f"{NAME} --yes"


# The rows that refer to a person: those that go with the data, and those that stay without a name.
GO = (
    "Session SignInDevice SecurityEvent ExternalIdentity ApiKey ReadMark ReadEntry SecondFactor Passkey RecoveryCode "
    "Conversation Prompt"
)
OF_DJANGO = "LogEntry User_groups User_user_permissions"
STAY = "Audit Detection TeamExam TeamCase ExamRun Override Review HistoryEntry McpTool ModelPull"
IN_CHATS = "Question Grant Share Memory"  # those in conversations of others stay


@pytest.fixture
def zora(bob: User, settings: Any, tmp_path: Path) -> User:
    """An administrator with a chat and everything that an account can have."""
    settings.WORKSPACES_DIR = tmp_path
    zora = UserFactory(username=NAME, role="admin", email=f"{NAME}@example.org", first_name=NAME, last_name=CANARY)
    Client().force_login(zora)
    api_keys.create(zora.pk, CANARY)
    quotas.put(PERSON, str(zora.pk), Quota(requests_day=71))
    now = timezone.now()
    ExternalIdentity.objects.create(person=zora, issuer="https://id", subject=NAME, used_at=now)
    ReadMark.objects.create(person=zora)
    SecondFactor.objects.create(person=zora, key=CANARY)
    RecoveryCode.objects.create(person=zora, digest=CANARY)
    Passkey.objects.create(person=zora, name=CANARY, site="localhost", credential=CANARY, handle=CANARY)
    SignInDevice.objects.create(person=zora, digest="d", password_mark="p", used_at=now)
    SecurityEvent.objects.create(kind="new_device", person=zora, key="k", address=CANARY, first_at=now, last_at=now)
    people = ContentType.objects.get_for_model(User)
    LogEntry.objects.create(user=bob, content_type=people, object_id=str(zora.pk), object_repr=NAME, action_flag=CHANGE)
    _chat(zora)
    return zora


def _chat(owner: User) -> Conversation:
    profile = ModelProfileFactory()
    chat = ConversationFactory(owner=owner, profile=profile, title=CANARY, pinned=True)
    turn = Turn.objects.create(conversation=chat, client_id="1", profile=profile, status=TurnStatus.DONE)
    message = Message.objects.create(conversation=chat, role="assistant", content=CANARY, turn=turn)
    ToolRun.objects.create(turn=turn, message=message, call_id="c", name="read_file", result=CANARY)
    RawExchange.objects.create(
        conversation=chat, message=message, url="u", request=CANARY, request_bytes=1, characters=1,
        started_at=timezone.now(), duration_ms=1,
    )  # fmt: skip
    Memory.objects.create(conversation=chat, text=CANARY, written_by=owner)
    Grant.objects.create(conversation=chat, tool="write_file", path=CANARY, granted_by=owner)
    turn_settings.workspace(str(chat.pk)).write("notes.md", [CANARY.encode()])
    return chat


def rows_with(*words: str) -> set[str]:
    """The tables with one of these words in a row."""
    found = set()
    for model in apps.get_models(include_auto_created=True):
        texts = json.dumps([list(row) for row in model._default_manager.values_list()], default=str)
        if any(word in texts for word in words):
            found.add(model.__name__)
    return found


def files_with(word: str) -> list[str]:
    files = [path for path in site_settings.WORKSPACES_DIR.rglob("*") if path.is_file()]
    return [path.name for path in files if word.encode() in path.read_bytes()]


def referring() -> list[tuple[type[Model], str]]:
    """The kinds of rows that refer to a person, with the column."""
    relations = [field for field in User._meta.get_fields(include_hidden=True) if isinstance(field, ForeignObjectRel)]
    return [(relation.related_model, relation.field.name) for relation in relations]


def test_every_kind_of_row_that_refers_to_a_person_is_decided() -> None:
    assert sorted(model.__name__ for model, _ in referring()) == sorted(f"{GO} {OF_DJANGO} {STAY} {IN_CHATS}".split())


@COMMITTED
def test_no_row_and_no_file_has_the_persons_texts_or_name(zora: User, bob: User, alice: User) -> None:  # P8
    others = ConversationFactory(owner=alice)
    with transaction.atomic():
        say(others, "read_by_admin", {"person": NAME, "reason": "asked"})
    Share.objects.create(conversation=others, reader=zora)
    override = OverrideFactory(actor=zora, reason="It works.")
    audit_log.write(zora.pk, "make_backup", "a", "why")
    assert {"User", "Conversation", "Message", "ApiKey", "LogEntry", "RawExchange", "SecondFactor"} <= rows_with(
        CANARY, NAME
    )
    assert files_with(CANARY) == ["notes.md"]
    _delete_on_the_page(zora, bob)
    assert rows_with(CANARY, NAME) == set() and files_with(CANARY) == []
    fields = {model.__name__: (model, field) for model, field in referring()}
    own = [fields[name] for name in f"{GO} {OF_DJANGO}".split()]
    assert [model for model, field in own if model._default_manager.filter(**{field: zora}).exists()] == []
    override.refresh_from_db()
    assert str(override.actor) == f"deleted person {zora.pk}" and override.reason == "It works."
    assert audit_log.broken_at() is None
    last = Audit.objects.get(deed="delete_person")
    assert (last.actor, last.subject) == (bob, str(zora.pk)) and "1 chat," in last.reason
    assert Message.objects.get(conversation=others).facts["person"] == f"deleted person {zora.pk}"
    assert [one.name for one in accounts.listed()] == ["alice", "bob"]


@COMMITTED
@pytest.mark.parametrize("killed_at", ["the rows", "the files"])
def test_a_deletion_that_is_killed_is_finished_by_the_next_one(
    zora: User, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:  # P8
    """A kill runs no code, so nothing may depend on what follows it."""

    def kill(*_: Any) -> None:
        raise SystemExit

    owner, name = {"the rows": (Conversation, "delete"), "the files": (turn_settings, "remove_workspace")}[killed_at]
    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(owner, name, kill)
        call_command("delete_person", *YES.split())
    assert Conversation.objects.exists() is (killed_at == "the rows") and files_with(CANARY) == ["notes.md"]
    call_command("delete_person", *YES.split())
    assert rows_with(CANARY, NAME) == set() and files_with(CANARY) == []


@COMMITTED
@pytest.mark.asyncio
async def test_files_of_a_deletion_that_was_killed_go_with_the_next_job(tmp_path: Path, settings: Any) -> None:  # P8
    settings.WORKSPACES_DIR = tmp_path
    kept, left = (turn_settings.workspace(str(uuid.uuid4())) for _ in range(2))
    for one in (kept, left):
        one.write("notes.md", [CANARY.encode()])
    turn_settings.discard_workspace(left.root.name)
    left.write("late.md", [CANARY.encode()])  # by a tool, before the row was gone
    (tmp_path / "odd.deleted").mkdir()
    await retention.prune()
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [kept.root]


def _delete_on_the_page(person: User, admin: User) -> None:
    """Delete the data with the typed name; afterwards no action finds the person."""
    client = Client()
    client.force_login(admin)
    address = f"/people/{person.pk}/delete/"
    assert "raw exchanges" in client.get(address).content.decode()
    answer = client.post(address, {"name": NAME.title()})
    assert answer.status_code == 422 and f"Type the name {NAME}" in answer.content.decode()
    assert client.post(f"/people/{admin.pk}/delete/", {"name": admin.username}).status_code == 403
    assert client.post(address, {"name": NAME}).status_code == 302
    for action in ("role", "switch", "link", "delete"):
        assert client.post(f"/people/{person.pk}/{action}/", {"role": "user", "name": NAME}).status_code == 404


@pytest.mark.parametrize(
    ("latest", "withdrawn", "valid"),
    [("zora", False, "of bob"), ("zora", True, ""), ("bob", False, "of bob"), ("alone", True, None)],
)
def test_prompts_go_and_a_withdrawal_stays(
    zora: User, bob: User, latest: str, withdrawn: bool, valid: str | None
) -> None:
    for writer in {"zora": (bob, zora), "bob": (zora, bob), "alone": (zora, zora)}[latest]:
        text = CANARY if writer == zora else "of bob"
        Prompt.objects.create(name="review", text=text, written_by=writer, withdrawn=withdrawn and writer == zora)
    deletion.delete_prompts(zora.pk)
    left = Prompt.objects.filter(name="review").last()
    assert (left.text if left else None) == valid
    assert left is None or left.withdrawn is withdrawn


@pytest.mark.parametrize(
    ("typed", "by", "error", "words"),
    [
        ("Zora.Quill", "bob", ConfigError, f"Type the name {NAME}"),
        (NAME, "zora", NotAllowed, "Another administrator"),
        (NAME, "", NotAllowed, "at least one active administrator"),
    ],
)
def test_another_name_oneself_and_the_last_administrator_are_refused(
    zora: User, bob: User, typed: str, by: str, error: type[Exception], words: str
) -> None:
    actor = {"bob": bob.pk, "zora": zora.pk}.get(by)
    if actor is None:
        User.objects.filter(pk=bob.pk).update(is_active=False)
    with pytest.raises(error, match=words):
        close_account(DeletionOrder(zora.pk, typed, actor))
    zora.refresh_from_db()
    assert zora.is_active and api_keys.listed(zora.pk)


@COMMITTED
def test_the_command_stops_an_answer_first_and_names_the_copies(
    zora: User, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.setattr(person_deletion, "PATIENCE", 0.3)
    monkeypatch.setattr(person_deletion, "PAUSE", 0.01)
    Turn.objects.update(status=TurnStatus.RUNNING, lease_until=timezone.now() + timedelta(seconds=60))
    for words, problem in (
        (NAME, "Nothing was changed"),
        ("zor --yes", "no person named"),
        (YES, "not be stopped yet"),
    ):
        with pytest.raises(CommandError, match=problem):
            call_command("delete_person", *words.split())
    zora.refresh_from_db()
    assert Turn.objects.get().stop_requested_at is not None and not zora.is_active
    Turn.objects.update(lease_until=timezone.now() - timedelta(seconds=60))
    for name in ("backups/site-20260101-000000.tar", "before-restore/toolsupport.sqlite3"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(CANARY)
    settings.DATA_DIR = tmp_path
    call_command("delete_person", *YES.split())
    printed = capsys.readouterr().out
    assert f"{tmp_path}/backups/site-2026" in printed and f"too: {tmp_path}/before-restore\n" in printed
    assert rows_with(CANARY, NAME) == set()
    assert audit_log.newest()[0].sentence == "The site deleted the data of a person."
    with pytest.raises(CommandError, match="no person named"):
        call_command("delete_person", f"deleted person {zora.pk}", "--yes")

"""Old rows are deleted a few at a time; pinned chats and evidence in force stay."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from chat.models import Conversation, Message, RawExchange, Turn
from chat.statuses import TurnStatus
from chat.transcript.conversations import old_chats
from chat.transcript.settings import turn_settings
from chat.turns import retention
from tests.factories import ConversationFactory, ModelProfileFactory, OverrideFactory
from toolsupport.core.exams.builtin import SUITES
from toolsupport.models import Audit, Detection, ExamPaper, ExamRun, ExamTrial, ModelProfile, Trial
from toolsupport.registry.people import audit_log
from toolsupport.registry.testing import old_evidence

NOW = timezone.now()
BEFORE = NOW - timedelta(days=10)
OLD, YOUNG = NOW - timedelta(days=11), NOW - timedelta(days=9)
NEVER = dict.fromkeys((f"TOOLSUPPORT_KEEP_{kind}_DAYS" for kind in retention.KINDS), 0)


def chat(title: str, changed: Any = OLD, **fields: Any) -> Conversation:
    made = ConversationFactory(title=title, **fields)
    Conversation.objects.filter(pk=made.pk).update(updated_at=changed)
    message = Message.objects.create(conversation=made, role="assistant")
    sizes = {"request_bytes": 1, "characters": 1, "duration_ms": 1}
    RawExchange.objects.create(conversation=made, message=message, url="u", request="r", started_at=changed, **sizes)
    return made


def turn_of(conversation: Conversation, status: TurnStatus, at: Any) -> None:
    made = Turn.objects.create(conversation=conversation, client_id="1", profile=ModelProfileFactory(), status=status)
    Turn.objects.filter(pk=made.pk).update(created_at=at)


@pytest.mark.django_db
def test_old_chats_go_with_their_files(settings: Any, tmp_path: Path) -> None:  # P8
    settings.WORKSPACES_DIR = tmp_path
    chat("pinned", pinned=True)
    chat("young", YOUNG)
    turn_of(chat("answers"), TurnStatus.RUNNING, OLD)
    turn_of(chat("answered"), TurnStatus.DONE, YOUNG)
    gone = chat("old", archived=True)
    turn_of(gone, TurnStatus.DONE, OLD)
    turn_settings.workspace(str(gone.pk)).write("a.txt", [b"text"])
    assert old_chats.old_chats(BEFORE).count() == 1
    assert (old_chats.prune_chats(BEFORE, 9), old_chats.prune_chats(BEFORE, 9)) == (1, 0)
    assert set(Conversation.objects.values_list("title", flat=True)) == {"pinned", "young", "answers", "answered"}
    assert not list(tmp_path.rglob("a.txt"))


@pytest.mark.django_db
def test_old_exchanges_go_a_few_at_a_time_and_their_chats_stay() -> None:  # P8
    for title, changed in (("a", OLD), ("b", OLD), ("c", OLD), ("d", YOUNG)):
        chat(title, changed)
    chat("pinned", pinned=True)
    assert [old_chats.prune_exchanges(BEFORE, 2) for _ in range(3)] == [2, 1, 0]
    left = set(RawExchange.objects.values_list("conversation__title", flat=True))
    assert left == {"d", "pinned"} and Conversation.objects.count() == 5


def measured_in(profile: ModelProfile, at: Any, status: str = "done") -> Detection:
    made = Detection.objects.create(profile=profile, build_key="b", trigger="page", status=status)
    Trial.objects.create(detection=made, seq=1, step="called", request={"a": 1})
    Trial.objects.filter(detection=made).update(created_at=at)
    return made


@pytest.mark.django_db
def test_requests_of_tests_go_unless_a_value_in_force_rests_on_them() -> None:  # P8
    profile = ModelProfileFactory()
    measured = {"profile": profile, "source": "probe", "build_key": "b"}
    without = measured_in(profile, OLD)
    replaced, in_force, withdrawn = (measured_in(profile, OLD) for _ in range(3))
    measured_in(profile, YOUNG)
    measured_in(profile, OLD, "running")
    OverrideFactory(detection=replaced, **measured)
    OverrideFactory(detection=in_force, **measured)
    other = OverrideFactory(detection=withdrawn, capability="vision", **measured)
    OverrideFactory(capability="vision", withdraws=other, **measured)
    assert old_evidence.count(BEFORE) == 3
    assert [old_evidence.prune(BEFORE, 2) for _ in range(3)] == [2, 1, 0]
    left = set(
        Trial.objects.filter(created_at__lt=BEFORE, detection__status="done").values_list("detection", flat=True)
    )
    assert left == {in_force.pk} and Detection.objects.filter(pk=without.pk).exists()


@pytest.mark.django_db
def test_trials_of_the_last_run_of_an_exam_stay() -> None:  # P8
    paper = ExamPaper.objects.create(digest="d", suite=next(iter(SUITES)), body={})
    common = {"profile": ModelProfileFactory(), "build_key": "b", "paper": paper, "trigger": "page", "status": "done"}
    for run in [ExamRun.objects.create(**common) for _ in range(2)]:
        ExamTrial.objects.create(run=run, format="native", case="c", group="g", code="ok")
    ExamTrial.objects.update(created_at=OLD)
    assert (old_evidence.prune(BEFORE, 9), old_evidence.prune(BEFORE, 9)) == (1, 0)
    assert ExamTrial.objects.get().run == ExamRun.objects.first()


@pytest.mark.django_db
def test_the_chain_of_the_audit_is_intact_behind_what_was_pruned(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        moment = OLD if number < 3 else YOUNG
        monkeypatch.setattr(timezone, "now", lambda moment=moment: moment)
        audit_log.write(bob.pk, "make_backup", str(number), "why")
    assert [audit_log.prune(BEFORE, 2) for _ in range(3)] == [2, 1, 0]
    assert audit_log.prune(NOW, 9) == 0  # the newest stays
    audit_log.write(None, "make_backup", "4", "why")
    assert audit_log.broken_at() is None
    first, last = Audit.objects.order_by("id")
    Audit.objects.filter(pk=first.pk).delete()
    assert audit_log.broken_at() == last.pk


@pytest.mark.django_db(transaction=True)
def test_the_command_counts_and_deletes_and_the_audit_has_the_counts(settings: Any, capsys: Any) -> None:  # P8
    chat("old")
    settings.ENV = settings.ENV | NEVER
    call_command("prune")
    assert "everything is kept" in capsys.readouterr().out and Conversation.objects.count() == 1
    settings.ENV = settings.ENV | {"TOOLSUPPORT_KEEP_CHATS_DAYS": 10, "TOOLSUPPORT_KEEP_AUDIT_DAYS": 10}
    call_command("prune", "--dry-run")
    assert capsys.readouterr().out == "Would delete: 1 chats, 0 audited actions\n"
    assert Conversation.objects.count() == 1 and not Audit.objects.exists()
    for _ in range(2):
        call_command("prune")
    assert not Conversation.objects.exists()
    entry = Audit.objects.get()
    assert (entry.actor, entry.deed, entry.reason) == (None, "prune_rows", "1 chats, 0 audited actions")

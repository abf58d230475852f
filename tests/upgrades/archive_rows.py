"""Adds rows to the tables of a site that its own conversation left empty."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
django.setup()

from django.apps import apps  # noqa: E402
from django.contrib.admin.models import LogEntry  # noqa: E402
from django.contrib.auth.models import Group, Permission, User  # noqa: E402
from django.contrib.contenttypes.models import ContentType  # noqa: E402
from django.contrib.sessions.models import Session  # noqa: E402

from chat.models import ComparedAnswer, Comparison, Message, Prompt, ResultTable, ToolRun, Turn  # noqa: E402
from tests.factories import McpServerFactory, McpToolFactory, UserFactory  # noqa: E402
from tests.serving import ADMIN  # noqa: E402
from tests.upgrades.make_archive import EXAM  # noqa: E402
from toolsupport import models  # noqa: E402
from toolsupport.core.exams import cases as exam_cases  # noqa: E402
from toolsupport.models import Detection, ModelProfile, Override  # noqa: E402
from toolsupport.registry.databases import sql_sources  # noqa: E402
from toolsupport.registry.databases.sql_sources import NewSource  # noqa: E402
from toolsupport.registry.exams import gate_settings, team_exams  # noqa: E402
from toolsupport.registry.exams.gate_settings import GateChange  # noqa: E402
from toolsupport.registry.fallbacks import fallback_settings  # noqa: E402
from toolsupport.registry.fallbacks.fallback_settings import FallbackChange, FallbackSettings  # noqa: E402
from toolsupport.registry.knowledge import event_log  # noqa: E402
from toolsupport.registry.people import api_keys, audit_log  # noqa: E402
from toolsupport.registry.servers import key_encryption  # noqa: E402

WHEN = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)


def add_to_conversations(ana: User, reader: User) -> None:
    """A question, a grant, a share, a memory, a prompt, and a program that made a call with a table as its result."""
    conversation = Turn.objects.latest("id").conversation
    turn = Turn.objects.filter(conversation=conversation).latest("id")
    message = Message.objects.filter(turn=turn).latest("id")
    program = ToolRun.objects.create(turn=turn, message=message, call_id="p", name="python_execution", status="done")
    ToolRun.objects.filter(pk=program.pk).update(snapshot=b"\x00\xff", asked_arguments={"code": "1"})
    inner = ToolRun.objects.create(
        turn=turn, message=message, call_id="p.1", name="execute_sql", status="done", program=program, result="a"
    )
    ResultTable.objects.create(run=inner, csv="a\r\n1\r\n")
    conversation.questions.create(
        turn=turn, tool_run=inner, kind="approval", text="Run it?", options=["once", "deny"],
        answer="once", answered_by=ana, answered_at=WHEN, preview="-a\n+b\n",
    )  # fmt: skip
    conversation.grants.create(tool="execute_sql", granted_by=ana)
    conversation.shares.create(reader=reader)
    conversation.memories.create(text="The team writes British English.", written_by=ana)
    Prompt.objects.create(name="short", text="Answer in one sentence.", written_by=ana)


def add_to_models(ana: User) -> None:
    """A person's decision with its review, a team's family, counts, a missing flag."""
    profile = ModelProfile.objects.get(name="sim-honest:latest")
    ModelProfile.objects.filter(pk=profile.pk).update(missing_flag="--jinja", missing_flag_since=WHEN)
    override = Override.objects.create(
        profile=profile, seq=profile.overrides.count() + 1, capability="parallel", value=True, proposed=True,
        source="user_confirmed", build_key=profile.build.key, actor=ana, reason="Seen in a chat.",
    )  # fmt: skip
    review = models.Review.objects.create(override=override, reviewer=ana, decision="agree", note="Seen too.")
    entry = event_log.record(event_log.HistoryEvent("override", profile.pk, "parallel", override=override.pk))
    models.ReadEntry.objects.create(person=ana, entry_id=entry)
    models.Review.objects.create(detection=Detection.objects.latest("id"), reviewer=ana, decision="note", note="Slow.")
    models.ReadMark.objects.update_or_create(person=ana, defaults={"entry": review.pk})
    models.Family.objects.create(name="ours", patterns=["our-model"], tools=True, notes="Made here.")
    models.CallMetric.objects.get_or_create(profile=profile, format="hermes", outcome="done", day=WHEN.date())
    models.ReplyTime.objects.get_or_create(profile=profile, format="hermes", step=70, day=WHEN.date())
    models.PromptCount.objects.get_or_create(build_key=profile.build.key, tools_digest="x", characters=900, tokens=300)
    models.ProvenCall.objects.get_or_create(build_key=profile.build.key, tool="read_file", arguments={"path": "a.txt"})


def add_to_exams(ana: User) -> None:
    """An exam of the team, a required exam, fallback models, and an answer replayed on another model."""
    model, other = (ModelProfile.objects.get(name=f"{name}:latest") for name in ("sim-honest", "sim-ignores"))
    team_exams.add("archived", exam_cases.read_suite(EXAM).cases[0], ana.pk)
    for one in (model, other):
        gate_settings.require(GateChange(one.pk, ana.pk, "For the archive.", "archived"))
    gate_settings.waive(GateChange(other.pk, ana.pk, "For the archive."))
    fallback_settings.save(FallbackChange(other.pk, FallbackSettings((model.pk,), True), ana.pk, "For the archive."))
    comparison = Comparison.objects.create(turn=Turn.objects.earliest("id"), case=EXAM["cases"][0])
    comparison.answers.create(profile=other, status="done", replies=[{"text": "Nothing.", "calls": []}], duration_ms=9)


def add_to_the_site(ana: User, alice: User) -> None:
    """Keys, servers, sources, settings, leases, entries of Django's own tables.

    The factors of a sign-in are those of Alice, since tests sign in as Ana.
    """
    api_keys.create(ana.pk, "a program")
    McpToolFactory(server=McpServerFactory(name="archived"), approved_by=ana, approved_at=WHEN)
    sql_sources.add(NewSource("archived", "sqlite", "/nowhere", ("user",)))
    audit_log.write(ana.pk, "read_conversation", "archived", "For the archive.")
    models.Setting.objects.update_or_create(key="archived", defaults={"value": {"kept": True}})
    models.Lease.objects.all().delete()
    models.Lease.objects.create(name="archived", owner="a process", until=WHEN)
    models.SignInTally.objects.create(key="archived", tries=1, until=WHEN)
    models.SignInDevice.objects.create(person=alice, digest="archived", password_mark="archived", used_at=WHEN)
    models.SecondFactor.objects.create(person=alice, key=key_encryption.encrypt("ARCHIVED"))
    models.RecoveryCode.objects.create(person=alice, digest="archived")
    models.Passkey.objects.create(
        person=alice, name="Phone", site="localhost", credential="archived", handle="archived"
    )
    models.ExternalIdentity.objects.create(person=ana, issuer="https://example.org", subject="archived", used_at=WHEN)
    models.QuotaLimit.objects.create(kind="role", subject="user", requests_day=100)
    models.QuotaUse.objects.create(kind="person", subject=ana.pk, day=WHEN.date(), requests=1)
    models.ModelPull.objects.create(server=models.Server.objects.earliest("id"), name="m", status="done", asked_by=ana)
    models.SecurityEvent.objects.create(key="archived", kind="new_device", person=ana, first_at=WHEN, last_at=WHEN)
    LogEntry.objects.create(user=ana, action_flag=2, object_repr="archived", content_type=ContentType.objects.first())
    Session.objects.create(session_key="archived", session_data="", expire_date=WHEN)
    ana.user_permissions.add(Permission.objects.all()[0])
    Group.objects.get(name="viewer").permissions.add(Permission.objects.all()[0])


def main() -> None:
    ana = User.objects.get(username=ADMIN[0])
    alice = UserFactory(username="alice", role="viewer")
    add_to_conversations(ana, alice)
    add_to_models(ana)
    add_to_exams(ana)
    add_to_the_site(ana, alice)
    # No process of the machine that this runs on is named.
    Turn.objects.update(owner="")
    for table in (Detection, models.ExamRun, ComparedAnswer, models.ModelPull):
        table.objects.update(owner="")
    tables = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    empty = [name for name, model in tables.items() if not model._default_manager.exists()]
    assert not empty, f"no rows in {empty}"


if __name__ == "__main__":
    main()

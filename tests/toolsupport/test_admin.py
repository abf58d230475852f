"""Django's administration shows every kind of row, and no secret."""

from __future__ import annotations

import time

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import (
    ComparedAnswer,
    Comparison,
    FormattedMessage,
    Grant,
    Memory,
    Message,
    Prompt,
    Question,
    RawExchange,
    ResultTable,
    Share,
    ToolRun,
    Turn,
)
from tests.factories import (
    PASSWORD,
    ConversationFactory,
    McpServerFactory,
    McpToolFactory,
    OverrideFactory,
    ServerFactory,
)
from toolsupport.core import one_time_codes
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.cases import ExamSuite
from toolsupport.core.prompt.token_counts import MeasuredPrompt
from toolsupport.core.quota_rules import Quota
from toolsupport.core.types import ToolSpec
from toolsupport.models import (
    CallMetric,
    Family,
    HistoryEntry,
    Lease,
    ModelPull,
    Passkey,
    ReadEntry,
    ReadMark,
    ReplyTime,
    Review,
)
from toolsupport.registry.databases import (
    sql_sources,
)
from toolsupport.registry.exams import (
    exam_runs,
    team_exams,
)
from toolsupport.registry.factors import second_factors
from toolsupport.registry.knowledge import (
    example_calls,
    overrides,
)
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.metrics import (
    prompt_token_counts,
)
from toolsupport.registry.people import (
    api_keys,
    audit_log,
    first_admin,
    identities,
    known_devices,
    quota_use,
    quotas,
    security_events,
    sign_in_limits,
)
from toolsupport.registry.people.identities import VouchedIdentity
from toolsupport.registry.servers import (
    key_encryption,
)
from toolsupport.registry.testing import (
    detections,
)

OURS: list[type[Model]] = [
    *apps.get_app_config("toolsupport").get_models(),
    *apps.get_app_config("chat").get_models(),
    User,
]


def test_every_kind_of_row_is_registered() -> None:
    assert [model for model in OURS if not admin.site.is_registered(model)] == []


def said(bob: User) -> None:
    """One row of each kind that a conversation has."""
    conversation = ConversationFactory(owner=bob, settings={"system": "canary-system"})
    turn = Turn.objects.create(conversation=conversation, client_id="canary-id", profile=conversation.profile)
    message = Message.objects.create(conversation=conversation, role="user", content="canary-text", turn=turn)
    hidden = {"arguments": {"path": "canary-arguments"}, "result": "canary-result", "raw": "canary-raw"}
    run = ToolRun.objects.create(turn=turn, message=message, call_id="1", name="read_file", **hidden)
    ResultTable.objects.create(run=run, csv="canary-result")
    sent = {"url": "http://box/api/chat", "request": "canary-raw", "reply": "canary-result"}
    sizes = {"request_bytes": 10, "characters": 23, "duration_ms": 1, "started_at": timezone.now()}
    RawExchange.objects.create(conversation=conversation, message=message, **sent, **sizes)
    FormattedMessage.objects.create(message=message, html="canary-text", seal="canary-raw")
    Question.objects.create(conversation=conversation, kind="approval", text="canary-text", preview="canary-raw")
    comparison = Comparison.objects.create(turn=turn, case={"messages": ["canary-text"]})
    answers = {"replies": ["canary-text"], "error": "canary-raw"}
    ComparedAnswer.objects.create(comparison=comparison, profile_id=turn.profile_id, **answers)
    Grant.objects.create(conversation=conversation, tool="write_file", granted_by=bob)
    Share.objects.create(conversation=conversation, reader=bob)
    Memory.objects.create(conversation=conversation, text="canary-text")
    Prompt.objects.create(name="brief", text="canary-text", written_by=bob)


def counted(bob: User) -> None:
    quotas.put("person", str(bob.pk), Quota(requests_day=9))
    quota_use.spend(quotas.limited(bob.pk))
    identities.signed_in(VouchedIdentity("https://id.example", "42", "dora", None))


def a_second_factor(bob: User) -> list[str]:
    """An app that was confirmed; its key and its recovery codes are secrets."""
    key = second_factors.begin(bob).key.replace(" ", "")
    step = int(time.time()) // one_time_codes.PERIOD
    codes = second_factors.confirm(bob, one_time_codes.code(one_time_codes.secret_of(key), step))
    Passkey.objects.create(person=bob, name="Phone", site="localhost", credential="canary-id", handle="canary-text")
    return [key, *codes]


def an_exam(profile: int) -> None:
    run = exam_runs.open_run(exam_runs.ExamRequest(profile, SUITES["quick"]))
    exam_runs.claim("worker")
    trial = exam_runs.ExamTrialRecord("", "native", "single_1", "single", 1, True, "right", {}, [])
    exam_runs.add_trial(run, "worker", trial)
    team_exams.put(ExamSuite("shop", SUITES["quick"].cases), None)


def rows(bob: User) -> list[str]:
    """One row of each kind; gives what must not be shown of them."""
    key = "tsk-canary-of-a-server"
    server = ServerFactory(api_key=key_encryption.encrypt(key))
    ModelPull.objects.create(server=server, name="qwen3:8b", asked_by=bob)
    McpToolFactory(server=McpServerFactory(token=key_encryption.encrypt(key)))
    claim = OverrideFactory()
    overrides.add(NewOverride(profile=claim.profile_id, capability="tools", value=True, actor=bob.pk, newest=claim.seq))
    said(bob)
    made = api_keys.create(bob.pk, "a program")
    counted(bob)
    sql_sources.add(sql_sources.NewSource("shop", "postgresql", "postgresql://reader:canary-raw@host/shop"))
    Lease.objects.get_or_create(name="job", owner="process", until="2030-01-01T00:00Z")
    sign_in_limits.attempt("bob", "address")
    security_events.record("sign_in_wrong", "192.0.2.1", "bob")
    token, _ = known_devices.remember(bob, "")
    example_calls.keep("build", ToolSpec("read_file"), {"path": "canary-arguments"})
    prompt_token_counts.learn("build", "", MeasuredPrompt(40, 10))
    CallMetric.objects.create(profile_id=claim.profile_id, format="native", outcome="ready", day="2030-01-01")
    ReplyTime.objects.create(profile_id=claim.profile_id, format="native", step=70, day="2030-01-01")
    Family.objects.create(name="ours", patterns=["ours"])
    test = detections.open_test(detections.DetectionRequest(claim.profile_id, "page", actor=bob.pk)).id
    detections.claim("worker")
    detections.add_trial(test, "worker", detections.TrialRecord("called", 1, {}, {}, passed=True))
    an_exam(claim.profile_id)
    Review.objects.create(detection_id=test, reviewer=bob, decision="agree")
    ReadMark.objects.create(person=bob, entry=1)
    ReadEntry.objects.create(person=bob, entry=HistoryEntry.objects.latest("pk"))
    audit_log.write(bob.pk, "read_conversation", "subject", "why")
    canaries = ["canary-text", "canary-id", "canary-system", "canary-arguments", "canary-result", "canary-raw"]
    return [
        key,
        made.removeprefix("tsk-")[6:],
        token,
        first_admin.new_setup_token(),
        PASSWORD,
        bob.password.rpartition("$")[2],
        *a_second_factor(bob),
        *canaries,
    ]


@pytest.mark.django_db
def test_no_page_shows_a_secret(bob: User) -> None:  # SAFETY 2 (Secrets)
    User.objects.filter(pk=bob.pk).update(is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(bob)
    hidden = [*rows(bob), str(client.session.session_key)]
    for model in OURS:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        row = model._default_manager.first()
        assert row is not None, model
        pages = [client.get(reverse(f"{name}_changelist"))]
        assert pages[0].status_code == 200, model
        pages.append(client.get(reverse(f"{name}_change", args=[row.pk])))
        texts = [page.content.decode() for page in pages]
        assert [canary for canary in hidden for text in texts if canary in text] == [], model


@pytest.mark.django_db
def test_nobody_is_added_changed_or_deleted_there(bob: User, alice: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(bob)
    for path in ("add/", f"{alice.pk}/delete/", f"{alice.pk}/password/"):
        assert client.post(f"/admin/auth/user/{path}", {"post": "yes"}).status_code in (302, 403, 404)
    client.post(f"/admin/auth/user/{alice.pk}/change/", {"username": "eve"})
    assert User.objects.get(pk=alice.pk).username == "alice"


@pytest.mark.django_db
@pytest.mark.parametrize("number", ["9" * 20, "-" + "9" * 25, "1e400"])
def test_numbers_that_no_column_holds_are_refused(bob: User, number: str) -> None:
    User.objects.filter(pk=bob.pk).update(is_staff=True, is_superuser=True)
    client = Client(raise_request_exception=False)
    client.force_login(bob)
    chosen = {"action": "delete_selected", "_selected_action": [number]}
    answers = [client.get(f"/admin/toolsupport/server/?pk__in={number}"), client.post("/admin/auth/group/", chosen)]
    assert [answer for answer in answers if answer.status_code >= 500] == []
    assert client.get("/admin/toolsupport/server/?pk__in=1").status_code == 200


def test_rows_and_empty_values_have_names(admin_client: Client) -> None:
    OverrideFactory()
    index = admin_client.get("/admin/").content.decode()
    assert "History entries" in index and "MCP tools" in index and "API keys" in index
    assert "entrys" not in index and "Mcp" not in index
    filters = (
        admin_client.get("/admin/toolsupport/modelprofile/").content.decode().partition('id="changelist-filter"')[2]
    )
    assert '<a href="?family=">' in filters and ">Empty</a>" in "".join(filters.split())

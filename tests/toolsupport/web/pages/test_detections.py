"""Tests of models in the pages and the API: Alice may ask for them, Bob may undo them, Charlie may read them."""

from __future__ import annotations

import re
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.effective_values import holding
from tests.factories import ModelProfileFactory, ServerFactory
from tests.markup import flat
from toolsupport.core import server_flags
from toolsupport.models import Detection, ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, TrialRecord

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
PROGRESS = [
    {
        "step": "declared",
        "name": "declared",
        "title": "Server claim",
        "state": "done",
        "detail": "Yes.",
    },
    {"step": "called", "name": "called", "title": "Call the right tool", "state": "running", "detail": ""},
]


@pytest.fixture
def model() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory(name="org/strange:1b", server=ServerFactory(name="box"))
    return made


def running(model: ModelProfile) -> int:
    opened = detections.open_test(DetectionRequest(model.pk, "page"))
    assert detections.claim("worker") == opened.id
    detections.renew(opened.id, "worker", PROGRESS)
    return opened.id


def done(model: ModelProfile) -> int:
    test = running(model)
    trial = TrialRecord("called", 1, {"messages": ["<b>call it</b>"]}, {"code": "right"}, True, "The right tool.", 200)
    detections.add_trial(test, "worker", trial)
    detections.conclude(
        test, "worker", DetectionResult("native", {}, {"tools": True}, "Called natively: 3 of 3.", run_ms=900)
    )
    return test


def test_alice_begins_one_test_however_often_she_presses(client: Client, alice: User, model: ModelProfile):  # D7
    client.force_login(alice)
    page = client.get(reverse("model", args=[model.pk])).content.decode()
    assert 'id="detect-tools"' in page and "up to" in page and "Not measured yet." in page
    url = reverse("model-detect", args=[model.pk])
    for _ in range(3):
        part = client.post(url, {"kind": "tools"}, headers=HTMX, follow=True).content.decode()
    assert Detection.objects.count() == 1
    assert "Queued, number 1 on <bdi>box</bdi>." in flat(part) and 'hx-trigger="every 1s"' in part
    client.post(reverse("model-detect", args=[model.pk]), {"kind": "per_tool"}, headers=HTMX)
    assert set(Detection.objects.values_list("kind", "actor")) == {("tools", alice.pk), ("per_tool", alice.pk)}


def test_a_missing_setting_is_named_in_the_one_sentence(client: Client, charlie: User, model: ModelProfile):  # P9
    test = running(model)
    reason = f"The call stayed in the text. {server_flags.sentence('--<b>jinja')}"
    detections.conclude(test, "worker", DetectionResult("misconfigured", {"flag": "--<b>jinja"}, {}, reason))
    client.force_login(charlie)
    wanted = "The server needs a setting for tools: <code>--&lt;b&gt;jinja</code>."
    for page in (reverse("detection", args=[test]), reverse("model", args=[model.pk]), reverse("servers")):
        assert wanted in client.get(page).content.decode(), page


def test_steps_are_shown_skipped_and_cancelled(client: Client, alice: User, model: ModelProfile):  # D6, D7
    test = running(model)
    client.force_login(alice)
    part = client.get(reverse("detection", args=[test]), headers=HTMX).content.decode()
    assert "Call the right tool" in part and "Skip" in part and "Cancel" in part
    client.post(reverse("detection-skip", args=[test]), {"step": "called"}, headers=HTMX)
    assert detections.renew(test, "worker", PROGRESS).skip == "called"
    client.post(reverse("detection-cancel", args=[test]), headers=HTMX)
    assert detections.renew(test, "worker", PROGRESS).cancel


def test_the_evidence_can_be_read(client: Client, charlie: User, model: ModelProfile):  # D8
    test = done(model)
    client.force_login(charlie)
    page = client.get(reverse("detection", args=[test])).content.decode()
    assert "calls tools natively" in page and "The right tool." in page and "&lt;b&gt;call it" in page
    assert "Skip:" not in page and "Undo" not in page
    part = client.get(reverse("detection", args=[test]), headers=HTMX)
    assert part.headers["HX-Trigger"] == "tested" and "every 1s" not in part.content.decode()
    listed = client.get(reverse("model", args=[model.pk]), headers=HTMX).content.decode()
    assert "Called natively: 3 of 3." in listed and 'id="known"' in listed


def test_bob_undoes_what_alice_may_not(client: Client, alice: User, bob: User, model: ModelProfile):
    test = done(model)
    assert holding(model, "tools").value is True
    client.force_login(alice)
    assert client.post(reverse("detection-undo", args=[test])).status_code == 403
    client.force_login(bob)
    assert client.post(reverse("detection-undo", args=[test]), headers=HTMX).status_code == 200
    assert holding(model, "tools").value is None
    assert detections.undo(test, bob.pk) == 0


def test_a_test_that_runs_is_not_undone(client: Client, bob: User, model: ModelProfile):
    test = detections.open_test(DetectionRequest(model.pk, "page")).id
    client.force_login(bob)
    answer = client.post(reverse("detection-undo", args=[test]), headers=HTMX)
    assert answer.status_code == 200 and "Undone" not in answer.content.decode()
    assert Detection.objects.get(pk=test).status == "queued"


def test_the_page_shows_what_undo_did(client: Client, alice: User, bob: User, model: ModelProfile):
    first, second = done(model), done(model)
    client.force_login(bob)
    part = client.post(reverse("detection-undo", args=[second]), headers=HTMX).content.decode()
    assert "Undone</strong> by bob" in part and "Nothing changed: an earlier test found the same." in part
    assert "Saved for everyone" not in part and f'id="undo-{second}"' not in part
    part = client.post(reverse("detection-undo", args=[first]), headers=HTMX).content.decode()
    assert "Native tool calls: <s>yes</s> → <strong>not measured</strong>" in part
    client.force_login(alice)
    page = client.get(reverse("detection", args=[first])).content.decode()
    assert "Native tool calls: <s>yes</s> → <strong>not measured</strong>" in page
    listed = client.get(reverse("model", args=[model.pk]), headers=HTMX).content.decode()
    assert listed.count(">bob undid a test</span>") == 2
    history = client.get(reverse("history"), {"kind": "withdrawal"}).content.decode()
    assert "Nothing changed: an earlier test found the same." in history


def test_the_box_marks_tests_of_an_older_build(client: Client, charlie: User, model: ModelProfile):
    done(model)
    client.force_login(charlie)
    url = reverse("model", args=[model.pk])
    tests = client.get(url, headers=HTMX).content.decode().partition('id="why"')[0]
    assert "older build" not in tests
    ModelProfile.objects.filter(pk=model.pk).update(digest="another")
    tests = client.get(url, headers=HTMX).content.decode().partition('id="why"')[0]
    assert "older build" in tests


def test_what_was_interrupted_is_offered_again(client: Client, alice: User, model: ModelProfile):  # D7
    running(model)
    detections.leave("worker")
    client.force_login(alice)
    page = client.get(reverse("model", args=[model.pk])).content.decode()
    assert "The last test was interrupted." in flat(page) and 'id="detect-tools"' in page


def test_what_a_test_measured_comes_with_it(client: Client, alice: User, model: ModelProfile):
    client.force_login(alice)
    part = client.get(reverse("model", args=[model.pk]), headers=HTMX).content.decode()
    assert 'id="known"' in part and "Vision: open the evidence" in flat(part)


def test_the_filtered_models_are_tested_together(client: Client, alice: User, model: ModelProfile):
    others = [ModelProfileFactory(name=f"wanted{n}") for n in range(3)]
    client.force_login(alice)
    shown = flat(client.get(reverse("models"), {"q": "wanted"}).content.decode())
    assert "Test 3 untested" in shown and "Test these" not in shown, "one button where both mean the same"
    part = client.post(reverse("models-detect"), {"q": "wanted"}, headers=HTMX).content.decode()
    assert "<strong>Testing 3 models · 0 done</strong> · about 8 s left" in flat(part)
    assert set(Detection.objects.values_list("profile", flat=True)) == {other.pk for other in others}
    detections.cancel(Detection.objects.order_by("pk")[0].pk)
    since = Detection.objects.order_by("pk")[0].pk
    part = client.get(reverse("models-detect-progress"), {"since": since}, headers=HTMX).content.decode()
    assert "Testing 3 models · 1 done" in flat(part) and '<rect data-ev="claimed"' in flat(part)
    assert f'<tr id="model-{others[0].pk}"' in part and f'<tr id="model-{model.pk}"' not in part, "rows of these tests"
    page = client.get(reverse("models")).content.decode()
    assert "Testing 3 models · 1 done" in flat(page), "a reload keeps it"
    part = client.post(reverse("models-detect-cancel"), headers=HTMX).content.decode()
    assert "Cancelled." in part and not Detection.objects.filter(status="queued").exists()


def test_cancelling_brings_only_rows_that_the_page_lists(client: Client, alice: User, model: ModelProfile):
    others = [ModelProfileFactory(name=f"wanted{n}") for n in range(2)]
    client.force_login(alice)
    client.post(reverse("models-detect"), headers=HTMX)
    page = client.get(reverse("models"), {"q": "wanted"}).content.decode()
    button = page[: page.index('id="cancel-all"')].rpartition("<form")[2]
    assert 'hx-include="#test-these"' in button
    sent = dict(re.findall(r'name="(q|rows)"\s+value="([^"]*)"', page[page.index('id="test-these"') :]))
    part = client.post(reverse("models-detect-cancel"), sent, headers=HTMX).content.decode()
    assert sorted(map(int, re.findall(r'<tr id="model-(\d+)"', part))) == [other.pk for other in others]


def test_every_filter_of_the_list_holds_for_the_tests(client: Client, alice: User):
    here, elsewhere = ModelProfileFactory(), ModelProfileFactory()
    client.force_login(alice)
    page = client.get(reverse("models"), {"server": here.server.name}).content.decode()
    assert "Test 1 untested" in page and f'name="server" value="{here.server.name}"' in page
    client.post(reverse("models-detect"), {"q": "", "server": here.server.name}, headers=HTMX)
    assert not Detection.objects.filter(profile=elsewhere).exists()
    assert Detection.objects.filter(profile=here).exists()


def test_switched_off_is_said_and_nothing_begins(client: Client, alice: User, model: ModelProfile, settings: Settings):
    settings.ENV = settings.ENV | {
        "TOOLSUPPORT_FILTER_ONLY": True,
        "given": settings.ENV["given"] | {"TOOLSUPPORT_FILTER_ONLY"},
    }
    client.force_login(alice)
    part = client.post(reverse("model-detect", args=[model.pk]), headers=HTMX, follow=True).content.decode()
    assert "An administrator has turned off tests" in part
    answer = client.post(f"/api/models/{model.pk}/detect")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "detection_disabled")
    assert not Detection.objects.exists()


def test_a_person_may_ask_for_so_many_only(client: Client, alice: User, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(detections, "MOST_AN_HOUR", 1)
    client.force_login(alice)
    statuses = [client.post(f"/api/models/{ModelProfileFactory().pk}/detect").status_code for _ in range(2)]
    assert statuses == [200, 429]


def test_the_api_begins_and_reads_a_test(client: Client, alice: User, charlie: User, model: ModelProfile):  # G3
    client.force_login(alice)
    begun = client.post("/api/models/box/org/strange:1b/detect").json()["detection"]
    assert client.post(f"/api/models/{model.pk}/detect").json()["detection"] == begun
    read = client.get(f"/api/detections/{begun}").json()
    assert (read["id"], read["model"], read["status"], read["actor"]) == (
        begun,
        "box/org/strange:1b",
        "queued",
        "alice",
    )
    assert (read["steps"], read["evidence"]) == ([], [])
    wrong = client.post("/api/models/nobody/detect")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (404, "model_not_found")
    assert client.get("/api/detections/987654321").json()["error"]["code"] == "detection_not_found"
    assert client.post(f"/api/models/{model.pk}/detect", {"kind": "x"}).status_code == 400
    kinds = ("application/json", "application/x-www-form-urlencoded", "text/plain", "application/json; charset=utf-8")
    for body, kind in product(('{"kind": "x"}', '{"kind": ["tools"]}', "[]", "{"), kinds):
        answer = client.post(f"/api/models/{model.pk}/detect", body, content_type=kind)
        assert answer.status_code == 400, (body, kind)
    for body in ("", "csrfmiddlewaretoken=x", "kind=tools"):
        assert client.post(f"/api/models/{model.pk}/detect", body, content_type=kinds[1]).json()["detection"] == begun
    client.force_login(charlie)
    assert client.post(f"/api/models/{model.pk}/detect").status_code == 403
    assert client.get(f"/api/detections/{begun}").status_code == 200


def test_a_decision_of_a_person_is_not_undone_with_a_test(model: ModelProfile, bob: User):
    test = done(model)
    overrides.add(overrides.NewOverride(model.pk, "tools", False, actor=bob.pk))
    detections.undo(test, bob.pk)
    assert holding(model, "tools").value is False

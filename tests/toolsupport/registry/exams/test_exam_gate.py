"""A required exam blocks a new build, and another call format, until it is passed or a person decides."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from chat.transcript.conversations import conversations
from tests.factories import ConversationFactory, ModelProfileFactory, UserFactory
from toolsupport.core.exams.builtin import QUICK
from toolsupport.models import ExamRun, HistoryEntry, ModelProfile
from toolsupport.registry.exams import exam_gate, exam_runs
from toolsupport.registry.fallbacks import fallback_chain

pytestmark = pytest.mark.django_db
FAILED = {
    "formats": {"": {"used": "", "verdict": "failed", "score": 0.5, "interval": [0, 1], "failed_groups": ["single"]}}
}
PASSED = {"formats": {"": {"used": "", "verdict": "passed", "score": 1.0, "interval": [0, 1], "failed_groups": []}}}


@pytest.fixture
def model() -> ModelProfile:
    return ModelProfileFactory()


@pytest.fixture
def reviewer(client: Client) -> Client:
    client.force_login(UserFactory(role="reviewer"))
    return client


def send(client: Client, model: ModelProfile, **fields: str) -> Any:
    answer = client.post(f"/models/{model.pk}/gate/", {"reason": "It broke once."} | fields, follow=True)
    model.refresh_from_db()
    return answer


def decide(verdict: str, detail: dict[str, Any]) -> ExamRun:
    """End the open run with this verdict."""
    run = ExamRun.objects.get(status="queued")
    ExamRun.objects.filter(pk=run.pk).update(status="done", verdict=verdict, detail=detail)
    return run


# E6
def test_a_build_waits_until_its_exam_is_passed(reviewer: Client, model: ModelProfile) -> None:
    send(reviewer, model, required_exam=QUICK)
    assert exam_gate.gate(model).state == "waits"
    assert ExamRun.objects.get().trigger == "drift", "the exam is queued at once"
    assert exam_gate.open_required() == 0, "and once"
    decide("passed", PASSED)
    assert exam_gate.gate(model).state == "passed"
    model.digest = "f" * 64
    model.save()
    assert exam_gate.gate(model).state == "waits", "the exam of another build does not count"
    assert exam_gate.open_required(model.server_id) == 1
    run = decide("failed", FAILED)
    page = reviewer.get(f"/models/{model.pk}/").content.decode()
    assert "This build failed the exam" in page and f'href="/exams/{run.pk}/"' in page
    assert exam_gate.gate(model).failed and exam_gate.gate(model).failed[0] in page
    send(reviewer, model, use_anyway="1")
    assert exam_gate.gate(model).state == "waived"
    lines = HistoryEntry.objects.filter(profile=model).order_by("pk").values_list("capability", "text")
    assert list(lines) == [("required_exam", "It broke once."), ("exam_waived", "It broke once.")]
    model.digest = "e" * 64
    model.save()
    assert exam_gate.gate(model).state == "waits", "a person lets one build answer, not the next"


def test_a_model_that_waits_does_not_replace_another_one(model: ModelProfile) -> None:
    first = ModelProfileFactory(options={"fallback_models": [model.pk]})

    def why() -> str:
        return fallback_chain.of(first.pk)[0].why

    assert why() == ""
    model.options = {"required_exam": QUICK}
    model.save()
    assert why() == "waits"
    exam_gate.open_required()
    decide("passed", PASSED | {"formats": {"": PASSED["formats"][""] | {"used": "hermes"}}})
    assert why() == "other_format" and exam_gate.open_required() == 1
    decide("failed", FAILED)
    assert why() == "failed_exam"


def test_the_exam_waits_until_the_server_is_idle(reviewer: Client, model: ModelProfile) -> None:
    send(reviewer, model, required_exam=QUICK)
    assert exam_runs.claim("me", idle=lambda server: False) is None
    claimed = exam_runs.claim("me", idle=lambda server: server == model.server_id)
    assert claimed is not None and claimed.profile == model.pk
    exam_runs.cancel(claimed.id)
    assert exam_gate.open_required() == 0, "what a person cancelled is not started again"


# M12
@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("user", 403), ("reviewer", 200), ("admin", 200)])
def test_reviewers_and_administrators_require_exams(
    client: Client, model: ModelProfile, role: str, status: int
) -> None:
    client.force_login(UserFactory(role=role))
    assert send(client, model, required_exam=QUICK).status_code == status
    assert (exam_gate.gate(model).state == "waits") is (status == 200)


def test_what_cannot_be_required_is_refused(reviewer: Client, model: ModelProfile) -> None:
    for fields, words in (
        ({"required_exam": "no such"}, "no exam"),
        ({"required_exam": QUICK, "reason": " "}, "Write a reason."),
        ({"use_anyway": "1"}, "This model is not waiting for an exam."),
    ):
        assert words in send(reviewer, model, **fields).content.decode()
    assert not ExamRun.objects.exists() and not HistoryEntry.objects.exists()


def test_people_may_choose_a_model_that_waits_and_read_so(model: ModelProfile) -> None:
    model.options = {"required_exam": QUICK}
    model.save()
    conversation = ConversationFactory()
    said = conversations.select_model(conversation.owner, str(conversation.pk), str(model.pk))
    texts = [each.thing.message.text for each in said]
    assert len(texts) == 2 and "has not passed its required exam quick" in texts[1]

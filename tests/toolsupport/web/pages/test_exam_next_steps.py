"""After an exam that was not passed, pages name the next steps, and the buttons do them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.core.exams import exam_report
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.estimates import TrialGrade
from toolsupport.models import ExamRun, ModelProfile
from toolsupport.registry.exams import exam_runs
from toolsupport.registry.exams.exam_runs import ExamRequest

pytestmark = pytest.mark.django_db

BUTTONS = ("other_format", "pull_again", "raise_context", "minimal_context", "test_again", "update_for_tools")


def signed_in(role: str) -> Client:
    client = Client()
    client.force_login(UserFactory(role=role))
    return client


def old_ollama(**more: Any) -> Any:
    server = ServerFactory(kind="ollama", version="0.2.9")
    return ModelProfileFactory(server=server, name="m:1", context_length=32_768, default_context=8192, **more)


def ended(profile: Any, wrong: set[str]) -> int:
    """A quick exam with native calls in which the cases of these groups were wrong."""
    run = exam_runs.open_run(ExamRequest(profile.pk, SUITES["quick"], ("native",)))
    exam_runs.claim("worker")
    grades = [
        TrialGrade(case.id, case.group, case.group not in wrong) for case in SUITES["quick"].cases for _ in range(3)
    ]
    verdict, detail = exam_report.concluded({"native": grades}, {"native": "native"}, "")
    exam_runs.conclude(run, "worker", verdict, detail)
    return run


def page(client: Client, name: str, number: int) -> str:
    return client.get(reverse(name, args=[number])).content.decode()


def buttons(text: str) -> set[str]:
    return {code for code in BUTTONS if f'id="step-{code}"' in text}


# E8
def test_the_pages_of_exam_and_model_offer_the_steps_that_apply() -> None:
    profile = old_ollama()
    run, alice = ended(profile, {"single", "history"}), signed_in("admin")
    for text in (page(alice, "exam", run), page(alice, "model", profile.pk)):
        assert "Next steps" in text and "Ollama 0.2.9 does not call tools. Update it to 0.3.0" in text
        assert "16,384 tokens" in text
        assert buttons(text) == {*BUTTONS} - {"minimal_context"}


def test_a_passed_exam_and_one_of_an_older_build_have_no_steps() -> None:
    profile, alice = old_ollama(), signed_in("admin")
    run = ended(profile, {"single"})
    ModelProfile.objects.filter(pk=profile.pk).update(digest="other")
    assert "Next steps" not in page(alice, "exam", run) + page(alice, "model", profile.pk)
    profile.refresh_from_db()
    run = ended(profile, set())
    assert ExamRun.objects.get(pk=run).verdict == "passed"
    assert "Next steps" not in page(alice, "exam", run) + page(alice, "model", profile.pk)


@pytest.mark.parametrize(("role", "offered"), [("viewer", set()), ("user", {"other_format", "test_again"})])
def test_people_read_the_steps_that_they_may_not_do(role: str, offered: set[str]) -> None:
    run, bob = ended(old_ollama(), {"single", "history"}), signed_in(role)
    text = page(bob, "exam", run)
    assert "Pull the model again" in text and "You need another permission" in text
    assert buttons(text) == offered
    assert bob.post(reverse("exam-step", args=[run]), {"step": "raise_context"}).status_code == 403


def test_the_button_runs_the_exam_in_other_formats() -> None:
    profile, alice = old_ollama(), signed_in("user")
    ended(profile, {"single"})
    text = page(alice, "model", profile.pk).split('id="step-other_format"')[0].rsplit("<form", 1)[1]
    fields = [part.split('"')[0] for part in text.split('value="')[1:]]
    assert fields[-3:] == ["quick", "hermes", "pure_json"]
    alice.post(reverse("model-validate", args=[profile.pk]), {"suite": fields[-3], "formats": fields[-2:]})
    assert ExamRun.objects.first().formats == ["hermes", "pure_json"]  # type: ignore[union-attr]


def test_the_buttons_raise_the_context_and_choose_the_short_prompt() -> None:
    profile, alice = old_ollama(options={"temperature": 0.5}), signed_in("admin")
    run = ended(profile, {"history"})
    for step in ("raise_context", "minimal_context"):
        text = alice.post(reverse("exam-step", args=[run]), {"step": step}, follow=True).content.decode()
        assert "Run the exam again." in text
    profile.refresh_from_db()
    assert (profile.default_context, profile.context_before) == (16_384, 8192)
    assert profile.options == {"temperature": 0.5, "turn_context": "minimal_system"}
    for step in ("minimal_context", "test_again", "nope"):
        text = alice.post(reverse("exam-step", args=[run]), {"step": step}, follow=True).content.decode()
        assert "This step no longer applies." in text

"""The fallback models on the page of a model: permissions, refusals, and the history."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.factories import ModelProfileFactory, UserFactory
from tests.markup import flat
from toolsupport.models import ExamPaper, ExamRun, HistoryEntry, ModelProfile
from toolsupport.registry.fallbacks import fallback_chain, fallback_settings
from toolsupport.registry.fallbacks.fallback_settings import ITSELF, TWICE, UNKNOWN, FallbackSettings
from toolsupport.registry.settings import team_settings

pytestmark = pytest.mark.django_db


def sent(client: Client, model: ModelProfile, *others: int, **more: str) -> Any:
    fields = {"fallback_models": ["", *map(str, others)], "reason": "It crashes."} | more
    return client.post(f"/models/{model.pk}/fallbacks/", fields, follow=True)


def as_role(client: Client, role: str) -> Client:
    client.force_login(UserFactory(role=role))
    return client


# M12
@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("user", 403), ("reviewer", 200), ("admin", 200)])
def test_reviewers_and_administrators_choose_fallback_models(client: Client, role: str, status: int) -> None:
    model, other = ModelProfileFactory(), ModelProfileFactory()
    as_role(client, role)
    page = client.get(f"/models/{model.pk}/").content.decode()
    assert ('name="fallback_models"' in page) is ('name="only_validated_fallbacks"' in page) is (status == 200)
    assert sent(client, model, other.pk).status_code == status
    model.refresh_from_db()
    assert fallback_settings.of(model.options).models == ((other.pk,) if status == 200 else ())


@pytest.mark.parametrize("address", ["/models/{}/", "/models/{}/explain/"])
def test_a_model_without_fallback_models_has_one_sentence_below_their_heading(client: Client, address: str) -> None:
    as_role(client, "reviewer")
    page = flat(client.get(address.format(ModelProfileFactory().pk)).content.decode())
    section = page.partition('id="fallbacks"')[2].partition("</section>")[0]
    below = section.partition("</h2>")[2].partition("<details")[0]
    assert ">Fallback models</h2>" in section
    assert below.strip() == '<p class="soft">No other model answers if this one cannot.</p>'


def test_a_change_is_in_the_history_with_its_reason(client: Client) -> None:
    model, first, second = (ModelProfileFactory() for _ in range(3))
    as_role(client, "reviewer")
    page = sent(client, model, second.pk, first.pk, only_validated_fallbacks="true").content.decode()
    assert page.index(f"{second.server.name}/{second.name}") < page.index(f"{first.server.name}/{first.name}")
    found = {row.capability: (row.before, row.after, row.text) for row in HistoryEntry.objects.filter(profile=model)}
    names = [f"{one.server.name}/{one.name}" for one in (second, first)]
    assert found == {
        "fallback_models": (None, names, "It crashes."),
        "only_validated_fallbacks": (None, True, "It crashes."),
    }
    shown = f"Fallback models: None to 1. {names[0]}, 2. {names[1]}. Set by"
    assert shown in client.get(f"/history/?profile={model.pk}").content.decode()
    sent(client, model, second.pk, first.pk, only_validated_fallbacks="true")
    assert HistoryEntry.objects.filter(profile=model).count() == 2, "what stays the same is no change"
    entry = HistoryEntry.objects.filter(profile=model).earliest("pk")
    assert "It crashes." in client.get(f"/history/{entry.pk}/").content.decode()


def test_what_makes_no_chain_is_refused_with_a_reason(client: Client) -> None:
    model, other = ModelProfileFactory(), ModelProfileFactory()
    embeds = ModelProfileFactory(abilities=["embedding"])
    as_role(client, "admin")
    for others, words in (((model.pk,), ITSELF), ((other.pk, other.pk), TWICE), ((embeds.pk,), UNKNOWN)):
        assert words in sent(client, model, *others).content.decode()
    assert "Write a reason." in sent(client, model, other.pk, reason="").content.decode()
    model.refresh_from_db()
    assert fallback_settings.of(model.options) == FallbackSettings()


def exam(profile: ModelProfile, verdict: str, used: str = "", build: str = "") -> None:
    paper = ExamPaper.objects.get_or_create(digest="d", defaults={"suite": "quick", "body": {}})[0]
    ExamRun.objects.create(
        profile=profile,
        paper=paper,
        build_key=build or profile.build.key,
        formats=[""],
        status="done",
        verdict=verdict,
        detail={"formats": {"": {"used": used}}},
    )


# E6
def test_only_models_with_a_passed_exam_of_their_present_build_count() -> None:
    model, other = ModelProfileFactory(), ModelProfileFactory()

    def why() -> str:
        [step] = fallback_chain.of(model.pk)
        return step.why

    model.options = {"fallback_models": [other.pk]}
    model.save()
    assert why() == ""
    team_settings.put("only_validated_fallbacks", True)
    assert why() == "no_exam"
    exam(other, "passed", build="an older one")
    assert why() == "no_exam"
    exam(other, "passed", used="hermes")
    assert why() == "other_format"
    exam(other, "passed")
    assert why() == ""
    exam(other, "inconclusive")
    assert why() == "", "an inconclusive run shows nothing"
    exam(other, "failed")
    assert why() == "failed_exam"
    model.options["only_validated_fallbacks"] = False
    model.save()
    assert why() == "", "the model's own setting counts before the team's"

"""One capability of all models that a filter matches: previewed, decided, undone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.models import HistoryEntry, ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db
VISION = {"capability": "vision", "value": "yes", "reason": "a new release"}


@pytest.fixture
def models() -> list[ModelProfile]:
    made: list[ModelProfile] = ModelProfileFactory.create_batch(3, server=ServerFactory(name="box"))
    return made


@pytest.fixture
def reviewer(client: Client, models: list[ModelProfile]) -> User:
    person: User = UserFactory(role="reviewer")
    client.force_login(person)
    return person


def vision(model: Any) -> object:
    return effective_values.known(model)["vision"].value


def hidden(page: str) -> dict[str, str]:
    return {name: re.search(rf'name="{name}" value="([^"]*)"', page)[1] for name in ("models", "seen")}  # type: ignore[index]


# M5, D2
def test_the_models_of_a_filter_are_previewed_decided_and_undone(
    client: Client, models: list[ModelProfile], reviewer: User
):
    other = ModelProfileFactory(server=ServerFactory(name="elsewhere"))
    overrides.add(NewOverride(models[0].pk, "vision", True, actor=reviewer.pk))
    assert "/models/edit/?server=box" in client.get("/models/?server=box").content.decode()
    page = client.get("/models/edit/", VISION | {"server": "box"}).content.decode()
    assert "Edit 3 models" in page and "2 of 3 models change" in page
    assert Override.objects.count() == 1
    answer = client.post("/models/edit/?server=box", VISION | hidden(page))
    lead = HistoryEntry.objects.filter(lead=None).latest("pk")
    assert answer.headers["Location"] == f"/history/{lead.pk}/"
    assert [vision(one) for one in (*models, other)] == [True, True, True, None]
    assert lead.inside.count() == 1 and "Revert all" in client.get(f"/history/{lead.pk}/").content.decode()
    client.post(f"/history/{lead.pk}/act/", {"do": "undo"})
    assert [vision(one) for one in models] == [True, None, None]


def test_what_was_decided_after_the_preview_stays(client: Client, models: list[ModelProfile], reviewer: User):
    sent = hidden(client.get("/models/edit/", VISION).content.decode())
    overrides.add(NewOverride(models[1].pk, "vision", False, actor=reviewer.pk))
    late = ModelProfileFactory(server=models[0].server)
    client.post("/models/edit/", VISION | sent)
    assert [vision(one) for one in (*models, late)] == [True, False, True, None]
    assert "Nothing changes" in client.post("/models/edit/", VISION | sent).content.decode()


def test_a_value_that_does_not_fit_is_refused(client: Client, models: list[ModelProfile], reviewer: User):
    for capability, value in (("vision", "perhaps"), ("max_tools", "-3"), ("nothing", "yes"), ("vision", "evidence")):
        answer = client.post("/models/edit/", {"capability": capability, "value": value, "models": str(models[0].pk)})
        assert answer.status_code == 200
    assert not Override.objects.exists()
    page = client.get("/models/edit/", {"capability": "max_tools", "value": "0"}).content.decode()
    assert "Write a whole number" in page


@pytest.mark.parametrize(("name", "status"), [("alice", 403), ("bob", 302), ("charlie", 403)])
def test_who_may_decide_for_all_may_edit(
    client: Client, models: list[ModelProfile], name: str, status: int, request: pytest.FixtureRequest
):
    client.force_login(request.getfixturevalue(name))
    sent = VISION | {"models": str(models[0].pk), "seen": "0"}
    assert client.post("/models/edit/", sent).status_code == status
    assert ("/models/edit/" in client.get("/models/").content.decode()) is (status == 302)

"""One capability of all models that a filter matches: previewed, decided, undone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.models import HistoryEntry, ModelProfile, Override
from toolsupport.registry import write_steps
from toolsupport.registry.knowledge import bulk_decisions, effective_values, overrides
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


def hidden(page: str, *names: str) -> dict[str, str]:
    found = {name: re.search(rf'name="{name}" value="([^"]*)"', page) for name in names or ("models", "seen")}
    return {name: match[1] for name, match in found.items() if match}


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


# S2: each step is short, so that the writes of others pass between two
def test_many_models_are_decided_in_steps_that_the_page_shows(
    client: Client, reviewer: User, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bulk_decisions, "STEP", 2)
    server = ServerFactory()
    many: list[ModelProfile] = ModelProfileFactory.create_batch(5, server=server)
    sent = VISION | hidden(client.get("/models/edit/", VISION | {"server": server.name}).content.decode())
    page = client.post("/models/edit/", sent).content.decode()
    assert "2 of 5 models done" in page and 'hx-trigger="load' in page and "<html" in page
    later = VISION | hidden(page) | {"lead": hidden(page, "lead")["lead"], "total": "5"}
    # The answer was lost: the same step once more changes nothing.
    assert "2 of 5 models done" in client.post("/models/edit/", sent).content.decode()
    assert sum(vision(one) is True for one in many) == 2
    page = client.post("/models/edit/", later, headers={"HX-Request": "true"}).content.decode()
    assert "4 of 5 models done" in page and "<html" not in page
    end = client.post("/models/edit/", later | hidden(page), headers={"HX-Request": "true"})
    lead = HistoryEntry.objects.get(lead=None, kind="override")
    assert end.headers["HX-Redirect"] == f"/history/{lead.pk}/" and lead.inside.count() == 4
    assert [vision(one) for one in many] == [True] * 5
    monkeypatch.setattr(write_steps, "STEP", 2)
    client.post(f"/history/{lead.pk}/act/", {"do": "undo"})
    assert [vision(one) for one in many] == [None] * 5
    assert HistoryEntry.objects.get(lead=None, kind="withdrawal").inside.count() == 4


def test_a_step_joins_no_entry_of_another_person(client: Client, reviewer: User, models: list[ModelProfile]):
    overrides.add(NewOverride(models[0].pk, "vision", False, actor=UserFactory().pk))
    theirs = HistoryEntry.objects.get()
    sent = VISION | hidden(client.get("/models/edit/", VISION).content.decode())
    client.post("/models/edit/", sent | {"lead": str(theirs.pk), "seen": "0"})
    assert theirs.inside.count() == 0 and HistoryEntry.objects.filter(lead=None).count() == 2


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

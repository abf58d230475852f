"""The page of the team's own families: written, previewed, saved, deleted, by administrators only."""

from __future__ import annotations

import time

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import ModelProfileFactory
from tests.processor_time import must_cost_at_most
from toolsupport.models import Family, ModelProfile
from toolsupport.registry.knowledge import team_families

pytestmark = pytest.mark.django_db
SENT = {"name": "ours", "patterns": "our-model", "tools": "yes", "call_format": "hermes", "enabled": "on"}


@pytest.fixture
def model() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory(name="our-model:8b")
    team_families.apply()
    return made


# M5
def test_bob_adds_edits_and_deletes_a_family(client: Client, bob: User, model: ModelProfile):
    client.force_login(bob)
    page = client.post("/families/add/", SENT | {"do": "preview"}).content.decode()
    assert "1 model changes" in page and "our-model:8b" in page and not Family.objects.exists()
    client.post("/families/add/", SENT | {"do": "save"})
    row = Family.objects.get()
    model.refresh_from_db()
    assert (row.patterns, row.tools, row.parallel, model.family) == (["our-model"], True, None, "ours")
    listed = client.get("/families/").content.decode()
    assert "ours" in listed and "1 model<" in listed
    # Another pattern: the model loses its family, and the preview says so.
    page = client.post(f"/families/{row.pk}/", SENT | {"patterns": "their-model", "do": "preview"}).content.decode()
    assert "no family" in page and Family.objects.get().patterns == ["our-model"]
    # The same family with another fact.
    assert "with other facts" in client.post(f"/families/{row.pk}/", SENT | {"tools": "no"}).content.decode()
    assert "our-model:8b" in client.get(f"/families/{row.pk}/remove/").content.decode()
    client.post(f"/families/{row.pk}/remove/")
    model.refresh_from_db()
    assert not Family.objects.exists() and (model.family, model.team_family) == ("", {})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("patterns", ""),
        ("patterns", "{size}"),
        ("patterns", "gguf"),
        ("patterns", "x" * 101),
        ("patterns", "\n".join(f"m{n}x" for n in range(21))),
        ("patterns", "a\u202eb"),
        ("patterns", "Taken_Model"),
        ("name", "TAKEN"),
        ("call_format", "morse"),
        ("max_tools", "0"),
    ],
)
def test_what_does_not_fit_is_refused(client: Client, bob: User, field: str, value: str):
    Family.objects.create(name="taken", patterns=["taken-model"])
    client.force_login(bob)
    page = client.post("/families/add/", SENT | {field: value, "do": "save"}).content.decode()
    assert "errorlist" in page and Family.objects.count() == 1


def test_hostile_patterns_take_no_time(client: Client, bob: User):
    client.force_login(bob)
    patterns = "\n".join(f"{mark * 45}{n}" for n, mark in enumerate(("-1", "a.", "1b", "v0.", "{size}", "q4_", "20")))
    with must_cost_at_most(2, time.process_time):
        client.post("/families/add/", SENT | {"patterns": patterns[:2000], "do": "preview"})


@pytest.mark.parametrize("name", ["alice", "charlie"])
def test_only_administrators_see_it(client: Client, name: str, request: pytest.FixtureRequest):
    client.force_login(request.getfixturevalue(name))
    assert client.get("/families/").status_code == 403
    assert client.post("/families/add/", SENT | {"do": "save"}).status_code == 403
    assert not Family.objects.exists()

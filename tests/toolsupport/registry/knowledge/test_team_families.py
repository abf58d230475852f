"""Families of the team: the models they match, the families they replace, and the effective values that follow."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.effective_values import holding
from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.models import Family, ModelProfile
from toolsupport.providers import ModelReport, ServerReport
from toolsupport.registry.knowledge import effective_values, overrides, team_families
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import surveys

pytestmark = pytest.mark.django_db


def tools(profile: ModelProfile) -> tuple[object, str, str]:
    row = holding(profile, "tools")
    return row.value, row.source, row.reason


def test_a_teams_family_stands_before_the_shipped_one() -> None:  # M5
    profile = ModelProfileFactory(name="qwen3:8b")
    assert tools(profile)[:2] == (True, "profile")
    row = Family.objects.create(name="our-qwen", patterns=["qwen3"], tools=False, refuses=["bash"])
    assert team_families.apply() == 1
    assert tools(profile) == (
        False,
        "profile",
        "The family table says our-qwen models do not call tools natively (profile).",
    )
    assert holding(profile, "tool:bash").value == "refused"
    overrides.add(NewOverride(profile.pk, "tools", True))
    assert tools(profile)[:2] == (True, "user_confirmed")
    row.enabled = False
    row.save()
    team_families.apply()
    profile.refresh_from_db()
    assert (profile.family, profile.team_family) == ("qwen3", {})


def test_every_reader_sees_it_without_another_query(django_assert_num_queries: object) -> None:  # M5
    made = ModelProfileFactory(name="house-model:1b")
    Family.objects.create(name="house", patterns=["house-model"], tools=True, max_tools=3)
    team_families.apply()
    profile = ModelProfile.objects.select_related("server").get(pk=made.pk)
    effective_values.known(profile)
    with django_assert_num_queries(1):  # type: ignore[operator]
        known = effective_values.known(profile)
    assert (known["tools"].value, known["max_tools"].value) == (True, 3)


def test_new_models_are_placed_when_they_are_listed() -> None:  # M5
    Family.objects.create(name="house", patterns=["house-model"], tools=True)
    server = ServerFactory()
    surveys.record_survey(server.pk, ServerReport("1", (ModelReport("house-model:1b", "d"),)))
    profile = ModelProfile.objects.get(server=server)
    assert (profile.family, tools(profile)[:2]) == ("house", (True, "profile"))


def admin_of(client: Client, bob: User) -> Client:
    User.objects.filter(pk=bob.pk).update(is_staff=True, is_superuser=True)
    client.force_login(bob)
    return client


def sent(**fields: str) -> dict[str, str]:
    lists = {"patterns": '["house-model"]', "excepted": "[]", "refuses": "[]"}
    return {"name": "house", "enabled": "on", "tools": "true", **lists, **fields}


def test_an_administrator_adds_one_and_the_models_follow(client: Client, bob: User) -> None:  # M5
    profile = ModelProfileFactory(name="house-model:1b")
    assert admin_of(client, bob).post("/admin/toolsupport/family/add/", sent()).status_code == 302
    assert tools(profile)[:2] == (True, "profile")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"patterns": "[]"}, "Name at least one"),
        ({"patterns": '{"a": 1}'}, "Write a list of names"),
        ({"refuses": "[1]"}, "Write a list of names"),
        ({"call_format": "klingon"}, "write one of"),
        ({"multi_turn": "so-so"}, "write one of"),
    ],
)
def test_what_no_family_could_be_is_refused(client: Client, bob: User, fields: dict, words: str) -> None:
    answer = admin_of(client, bob).post("/admin/toolsupport/family/add/", sent(**fields))
    assert words in answer.content.decode()
    assert not Family.objects.exists()


def test_others_may_not(client: Client, alice: User) -> None:
    client.force_login(alice)
    client.post("/admin/toolsupport/family/add/", sent())
    assert not Family.objects.exists()

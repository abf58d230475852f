"""The models as JSON, for Charlie (a viewer), who may see them, and strangers, who may not."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import api_catalogue

pytestmark = pytest.mark.django_db


@pytest.fixture
def profile(charlie: User, client: Client) -> ModelProfile:
    client.force_login(charlie)
    made = ModelProfileFactory(name="org/strange:1b", server=ServerFactory(name="box"), digest="abc")
    overrides.add(NewOverride(made.pk, "tools", False, actor=UserFactory(username="Ana").pk, reason="tried it"))
    return made


def test_the_list_has_the_promised_shape(client: Client, profile: ModelProfile) -> None:  # G3
    [model] = client.get("/api/models").json()["models"]
    assert {name: model[name] for name in ("id", "server", "name", "digest", "status")} == {
        "id": "box/org/strange:1b",
        "server": "box",
        "name": "org/strange:1b",
        "digest": "abc",
        "status": "available",
    }
    assert list(model["capabilities"]) == [
        *(
            "tools",
            "format",
            "parallel",
            "streaming",
            "multi_turn",
            "leaves_alone",
            "thinking",
            "tools_thinking",
            "vision",
        ),
        *("max_tools", "prompt_style", "constrains", "constrains_patterns"),
        *("tool:read_file", "tool:write_file", "tool:list_directory", "tool:edit_file", "tool:bash"),
    ]
    assert model["capabilities"]["tools"]["value"] is False
    assert model["capabilities"]["tools"]["source"] == "user_confirmed"
    assert model["capabilities"]["format"]["value"] is None
    assert all(set(one) == {"value", "source", "since", "reason"} for one in model["capabilities"].values())


def test_one_model_comes_with_what_was_said(client: Client, profile: ModelProfile) -> None:  # G3
    for wanted in ("box/org/strange:1b", "org/strange:1b", str(profile.pk)):
        model = client.get(f"/api/models/{wanted}").json()
        assert model["id"] == "box/org/strange:1b"
        [said] = model["overrides"]
        assert (said["value"], said["actor"], said["reason"], said["scope"]) == (False, "Ana", "tried it", "everyone")
        assert (model["detections"], model["evidence"]) == ([], [])


def test_latest_may_be_left_out(client: Client, profile: ModelProfile) -> None:
    made = ModelProfileFactory(name="strange:latest", server=profile.server)
    lab = ModelProfileFactory(name="strange:latest", server=ServerFactory(name="lab"), enabled=False)
    for wanted in ("strange", "box/strange", "box/strange:latest"):
        assert client.get(f"/api/models/{wanted}").json()["id"] == f"box/{made.name}"
    assert client.get("/api/models/lab/strange").json()["id"] == f"lab/{lab.name}"


def test_an_ambiguous_or_unknown_name_is_said(client: Client, profile: ModelProfile) -> None:
    ModelProfileFactory(name="org/strange:1b", server=ServerFactory(name="lab"))
    answer = client.get("/api/models/org/strange:1b")
    assert answer.status_code == 404
    assert "write server/name" in answer.json()["error"]["message"]
    assert client.get("/api/models/nothing").json()["error"]["code"] == "model_not_found"


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"gone_since": "2026-01-01T00:00Z"}, "gone"),
        ({"enabled": False}, "disabled"),
        ({"server__enabled": False}, "disabled"),
        ({"server__reachable": False}, "unreachable"),
        ({"server__reachable": None}, "unknown"),
    ],
)
def test_a_model_that_cannot_be_used_is_shown_as_such(changes: dict, status: str) -> None:
    made = ModelProfileFactory(**changes)
    assert api_catalogue.shown(f"{made.server.name}/{made.name}")["status"] == status


def test_the_list_takes_three_queries_and_then_two(
    profile: ModelProfile, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ModelProfileFactory.create_batch(5)
    for queries in (3, 2):  # the second time no claim has been added
        with django_assert_num_queries(queries):
            assert len(api_catalogue.listed()) == 6


@pytest.mark.parametrize("path", ["/api/models", "/api/models/1"])
def test_strangers_are_told_to_bring_a_key(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "invalid_api_key"


def test_too_many_tests_are_refused_with_a_time_to_come_back(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolsupport.registry.testing.detections.MOST_AN_HOUR", 0)
    made = ModelProfileFactory()
    client.force_login(alice)
    refused = client.post(f"/api/models/{made.pk}/detect")
    assert (refused.status_code, refused.json()["error"]["type"]) == (429, "rate_limit_error")
    assert int(refused.headers["Retry-After"]) > 0

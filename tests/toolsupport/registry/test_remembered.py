"""What is remembered of a model is never older than its rows."""

from __future__ import annotations

import pytest
from django.db import connection, models
from django.test.utils import CaptureQueriesContext

from tests.factories import ModelProfileFactory, OverrideFactory
from toolsupport.models import ModelProfile, Server
from toolsupport.registry import overrides, remembered, standings
from toolsupport.registry.overrides import Decision

pytestmark = pytest.mark.django_db


def test_a_model_nobody_changed_is_built_once():
    profile = ModelProfileFactory()
    first = remembered.profile(profile.pk)
    with CaptureQueriesContext(connection) as queries:
        assert remembered.profile(profile.pk) is first
    assert len(queries) == 1
    assert first is not None
    assert (first, first.server.name, first.name) == (profile, profile.server.name, profile.name)


@pytest.mark.parametrize(
    ("model", "change"), [(ModelProfile, {"default_context": 2048}), (Server, {"base_url": "http://127.0.0.1:9"})]
)
def test_a_change_of_the_model_or_its_server_is_seen_at_once(model: type[models.Model], change: dict):
    profile = ModelProfileFactory()
    remembered.profile(profile.pk)
    model._default_manager.update(**change)
    found = remembered.profile(profile.pk)
    assert found is not None
    row = found if model is ModelProfile else found.server
    assert {name: getattr(row, name) for name in change} == change


def test_an_absent_model_is_none():
    assert remembered.profile(10**6) is None


def test_no_more_models_are_kept_than_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remembered, "MOST", 2)
    monkeypatch.setattr(remembered, "_remembered", {})
    for _ in range(5):
        remembered.profile(ModelProfileFactory().pk)
    assert len(remembered._remembered) <= 2


def test_what_is_known_follows_every_claim_and_every_withdrawal():
    profile = ModelProfileFactory()
    assert standings.known(profile)["tools"].value is None
    overrides.add(Decision(profile.pk, "tools", True))
    assert standings.known(profile)["tools"].value is True
    overrides.follow_evidence(Decision(profile.pk, "tools"))
    assert standings.known(profile)["tools"].value is None


def test_a_claim_for_one_conversation_stays_there():
    profile = ModelProfileFactory()
    OverrideFactory(profile=profile, value=False)
    assert standings.known(profile, "here")["tools"].value is False
    overrides.add(Decision(profile.pk, "tools", True, session="here"))
    assert standings.known(profile, "here")["tools"].value is True
    assert standings.known(profile, "there")["tools"].value is False


def test_another_build_of_the_same_row_is_known_anew():
    profile = ModelProfileFactory(digest="a" * 64)
    overrides.add(Decision(profile.pk, "tools", True, "auto_detected"))
    assert not standings.known(profile)["tools"].stale
    profile.digest = "b" * 64
    assert standings.known(profile)["tools"].stale

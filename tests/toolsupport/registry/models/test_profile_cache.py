"""The cached row of a model is never older than the database."""

from __future__ import annotations

import pytest
from django.db import connection, models
from django.test.utils import CaptureQueriesContext

from tests.factories import ModelProfileFactory, OverrideFactory
from toolsupport.models import ModelProfile, Server
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import profile_cache

pytestmark = pytest.mark.django_db


def test_a_model_nobody_changed_is_built_once():
    profile = ModelProfileFactory()
    first = profile_cache.profile(profile.pk)
    with CaptureQueriesContext(connection) as queries:
        assert profile_cache.profile(profile.pk) is first
    assert len(queries) == 1
    assert first is not None
    assert (first, first.server.name, first.name) == (profile, profile.server.name, profile.name)


@pytest.mark.parametrize(
    ("model", "change"), [(ModelProfile, {"default_context": 2048}), (Server, {"base_url": "http://127.0.0.1:9"})]
)
def test_a_change_of_the_model_or_its_server_is_seen_at_once(model: type[models.Model], change: dict):
    profile = ModelProfileFactory()
    profile_cache.profile(profile.pk)
    model._default_manager.update(**change)
    found = profile_cache.profile(profile.pk)
    assert found is not None
    row = found if model is ModelProfile else found.server
    assert {name: getattr(row, name) for name in change} == change


def test_an_absent_model_is_none():
    assert profile_cache.profile(10**6) is None


def test_no_more_models_are_kept_than_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(profile_cache, "MOST", 2)
    monkeypatch.setattr(profile_cache, "_remembered", {})
    for _ in range(5):
        profile_cache.profile(ModelProfileFactory().pk)
    assert len(profile_cache._remembered) <= 2


def test_what_is_known_follows_every_claim_and_every_withdrawal():
    profile = ModelProfileFactory()
    assert effective_values.known(profile)["tools"].value is None
    overrides.add(NewOverride(profile.pk, "tools", True))
    assert effective_values.known(profile)["tools"].value is True
    overrides.follow_evidence(NewOverride(profile.pk, "tools"))
    assert effective_values.known(profile)["tools"].value is None


def test_a_claim_for_one_conversation_stays_there():
    profile = ModelProfileFactory()
    OverrideFactory(profile=profile, value=False)
    assert effective_values.known(profile, "here")["tools"].value is False
    overrides.add(NewOverride(profile.pk, "tools", True, session="here"))
    assert effective_values.known(profile, "here")["tools"].value is True
    assert effective_values.known(profile, "there")["tools"].value is False


def test_another_build_of_the_same_row_is_known_anew():
    profile = ModelProfileFactory(digest="a" * 64)
    overrides.add(NewOverride(profile.pk, "tools", True, "auto_detected"))
    assert not effective_values.known(profile)["tools"].stale
    profile.digest = "b" * 64
    assert effective_values.known(profile)["tools"].stale

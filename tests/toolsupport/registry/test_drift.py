"""A model that changed after its test is noted once, and tested anew only where that is wanted."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory
from toolsupport.models import Detection, HistoryEntry, ModelProfile
from toolsupport.registry import detections, drift, system_settings
from toolsupport.registry.detections import Asked, Concluded

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> ModelProfile:
    """One that was tested, then pulled again."""
    made: ModelProfile = ModelProfileFactory(digest="one")
    test = detections.open_test(Asked(made.pk, "page")).id
    detections.claim("worker")
    detections.conclude(test, "worker", Concluded("native", {}, {"tools": True, "parallel": True}, "3 of 3."))
    assert drift.mark(made.server_id) == 0
    ModelProfile.objects.filter(pk=made.pk).update(digest="two")
    return made


# D14
def test_it_is_noted_once(model: ModelProfile):
    assert (drift.mark(model.server_id), drift.mark(model.server_id)) == (1, 0)
    [entry] = HistoryEntry.objects.filter(kind="drift")
    assert (entry.profile_id, entry.capability) == (model.pk, "tools") and "has changed" in entry.text
    assert not Detection.objects.filter(trigger="drift").exists()


def test_switched_off_nothing_is_noted(model: ModelProfile):
    system_settings.put("drift", "off")
    assert drift.mark(model.server_id) == 0


def test_where_it_is_wanted_it_is_tested_anew(model: ModelProfile):
    system_settings.put("drift", "auto")
    assert drift.mark(model.server_id) == 1
    assert Detection.objects.get(trigger="drift").profile_id == model.pk

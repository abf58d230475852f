"""A model that changed after its test is noted once for each change, and tested again only where that is wanted."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.models import Detection, HistoryEntry, ModelProfile, Override, Server
from toolsupport.registry.knowledge import overrides, stale_tests
from toolsupport.registry.settings import team_settings
from toolsupport.registry.testing import detections, drift
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult

pytestmark = pytest.mark.django_db

NATIVE = DetectionResult("native", {}, {"tools": True, "parallel": True}, "3 of 3.")


def concluded(model: ModelProfile, end: DetectionResult = NATIVE, kind: str = "tools") -> int:
    test = detections.open_test(DetectionRequest(model.pk, "page", kind)).id
    detections.claim("worker")
    assert detections.conclude(test, "worker", end)
    return test


def becomes(model: ModelProfile, digest: str) -> None:
    """The model was pulled again, and its server was asked."""
    ModelProfile.objects.filter(pk=model.pk).update(digest=digest)
    model.refresh_from_db()


def lines() -> list[str]:
    return list(HistoryEntry.objects.filter(kind="drift").order_by("pk").values_list("text", flat=True))


def by_drift() -> list[str]:
    return list(Detection.objects.filter(trigger="drift").order_by("pk").values_list("kind", flat=True))


@pytest.fixture
def model() -> ModelProfile:
    """One that was tested, then pulled again."""
    made: ModelProfile = ModelProfileFactory(digest="one")
    concluded(made)
    assert drift.mark(made.server_id) == 0
    becomes(made, "two")
    return made


# D14
def test_it_is_noted_once(model: ModelProfile):
    assert (drift.mark(model.server_id), drift.mark(model.server_id)) == (1, 0)
    [entry] = HistoryEntry.objects.filter(kind="drift")
    assert (entry.profile_id, entry.capability) == (model.pk, "tools") and "has changed" in entry.text
    assert not by_drift()


def test_a_second_change_is_noted_again(model: ModelProfile):
    assert drift.mark(model.server_id) == 1
    becomes(model, "three")
    assert (drift.mark(model.server_id), drift.mark(model.server_id)) == (1, 0)
    Server.objects.filter(pk=model.server_id).update(version="0.14.0")
    assert (drift.mark(model.server_id), drift.mark(model.server_id)) == (1, 0)
    assert lines() == [drift.CHANGED] * 3


def test_there_and_back_again_are_changes_as_well(model: ModelProfile):
    assert drift.mark(model.server_id) == 1
    becomes(model, "one")
    assert (drift.mark(model.server_id), drift.mark(model.server_id)) == (0, 0)
    becomes(model, "two")
    assert drift.mark(model.server_id) == 1
    assert lines() == [drift.CHANGED, drift.BACK, drift.CHANGED]


def test_a_test_of_the_new_build_ends_it(model: ModelProfile):
    drift.mark(model.server_id)
    test = concluded(model)
    assert drift.mark(model.server_id) == 0 and not stale_tests.kinds([model])
    model.refresh_from_db()
    assert model.drifted_since is None
    detections.undo(test, None)
    assert stale_tests.kinds([model])
    model.refresh_from_db()
    assert model.drifted_since is not None, "administrators see it at once"


def test_switched_off_nothing_is_noted(model: ModelProfile):
    team_settings.put("drift", "off")
    assert drift.mark(model.server_id) == 0


def test_where_it_is_wanted_it_is_tested_again(model: ModelProfile):
    team_settings.put("drift", "auto")
    assert drift.mark(model.server_id) == 1
    assert Detection.objects.get(trigger="drift").profile_id == model.pk


def test_what_was_noted_before_is_tested_once_that_is_wanted(model: ModelProfile):
    drift.mark(model.server_id)
    team_settings.put("drift", "auto")
    assert drift.mark(model.server_id) == 0
    drift.mark(model.server_id)
    assert by_drift() == ["tools"]


def test_every_server_that_answers_is_looked_through(model: ModelProfile):
    away = ModelProfileFactory(digest="one", server=ServerFactory(reachable=False))
    concluded(away)
    becomes(away, "two")
    team_settings.put("drift", "auto")
    assert drift.mark_all() == 1
    assert Detection.objects.get(trigger="drift").profile_id == model.pk


def test_only_what_is_affected_is_tested(model: ModelProfile):
    concluded(model)
    concluded(model, DetectionResult("text", {}, {"format": "hermes"}, "It works."), "formats")
    becomes(model, "three")
    concluded(model)
    assert not stale_tests.kinds([model]), "the whole test covers the others"
    alone = ModelProfileFactory(digest="one", server=model.server)
    concluded(alone, DetectionResult("text", {}, {"format": "hermes"}, "It works."), "formats")
    becomes(alone, "two")
    team_settings.put("drift", "auto")
    drift.mark(model.server_id)
    assert by_drift() == ["formats"]


@pytest.mark.parametrize(("end", "times"), [(DetectionResult("inconclusive", {}, {}, "Busy."), 3), (NATIVE, 1)])
def test_what_proves_nothing_is_not_tried_forever(model: ModelProfile, end: DetectionResult, times: int):
    team_settings.put("drift", "auto")
    for _ in range(5):
        drift.mark(model.server_id)
        test = detections.claim("worker")
        if test is not None:
            detections.conclude(test, "worker", end)
            detections.undo(test, None)
    assert len(by_drift()) == times


def test_a_cancelled_test_is_not_repeated_and_an_interrupted_one_is(model: ModelProfile):
    team_settings.put("drift", "auto")
    drift.mark(model.server_id)
    running = detections.claim("worker")
    assert running is not None
    detections.leave("worker")
    drift.mark(model.server_id)
    queued = Detection.objects.get(status="queued")
    assert queued.trigger == "drift"
    detections.cancel(queued.pk)
    drift.mark(model.server_id)
    assert not Detection.objects.filter(status="queued").exists()


def test_a_model_that_was_never_tested_does_not_drift():
    made = ModelProfileFactory(digest="one")
    overrides.declare(made.pk, {"tools": True})
    overrides.add(overrides.NewOverride(made.pk, "vision", True))
    becomes(made, "two")
    assert drift.mark(made.server_id) == 0
    assert Override.objects.filter(profile=made).count() == 2

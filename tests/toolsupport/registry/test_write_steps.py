"""Writes of many rows: others write in their pauses, and what is written stays where the process ends in one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.core.user_models import UserModel, UserModelsFile
from toolsupport.models import Detection, HistoryEntry, ModelProfile, Override
from toolsupport.registry import write_steps
from toolsupport.registry.knowledge import bulk_decisions, event_log, overrides, reviews
from toolsupport.registry.knowledge.bulk_decisions import BulkDecision
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import user_models_merge
from toolsupport.registry.models.user_models_merge import MergeConsent
from toolsupport.registry.testing import detections, drift
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult

pytestmark = pytest.mark.django_db(transaction=True)  # S2


@pytest.fixture
def models() -> list[ModelProfile]:
    made: list[ModelProfile] = ModelProfileFactory.create_batch(5, server=ServerFactory())
    return made


def pausing(monkeypatch: pytest.MonkeyPatch, pause: Callable[[], None]) -> None:
    """Make steps of two rows, with this in each pause."""
    monkeypatch.setattr(write_steps, "STEP", 2)
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: pause())
    monkeypatch.setattr(write_steps, "time", clock)


def written_by_another() -> None:
    """Write on another connection, which waits for none that holds the lock."""

    def write() -> None:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("PRAGMA busy_timeout = 0")
        User.objects.create(username=f"another{User.objects.count()}")
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    thread.join(60)


def others() -> int:
    return User.objects.filter(username__startswith="another").count()


def prove(model: ModelProfile) -> None:
    test = detections.open_test(DetectionRequest(model.pk, "page")).id
    detections.claim("worker")
    detections.conclude(test, "worker", DetectionResult("native", {}, {"tools": True}, "3 of 3."))


def decided(models: list[ModelProfile], actor: int) -> int:
    bundle = event_log.HistoryBundle()
    overrides.add_all([NewOverride(one.pk, "vision", True, actor=actor, bundle=bundle) for one in models])
    assert bundle.lead is not None
    return bundle.lead


def test_others_write_while_many_tests_are_queued(models: list[ModelProfile], monkeypatch: pytest.MonkeyPatch) -> None:
    pausing(monkeypatch, written_by_another)
    opened = detections.open_tests([DetectionRequest(model.pk, "bulk") for model in models])
    assert others() == 2 and [test.fresh for test in opened] == [True] * 5
    assert set(Detection.objects.values_list("bulk", flat=True)) == {opened[0].id}


def test_others_write_while_a_bundle_is_reverted(models: list[ModelProfile], monkeypatch: pytest.MonkeyPatch) -> None:
    lead, bob = decided(models, UserFactory().pk), UserFactory()
    pausing(monkeypatch, written_by_another)
    reviews.act(reviews.UNDO, reviews.NewReview(lead, bob.pk))
    assert others() == 2 and Override.objects.filter(withdraws=None, withdrawn_by=None).count() == 0


def test_others_write_while_many_changed_models_are_noted(
    models: list[ModelProfile], monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in models:
        prove(model)
    ModelProfile.objects.update(digest="another")
    pausing(monkeypatch, written_by_another)
    assert drift.mark(models[0].server_id) == 5 and others() == 2
    assert HistoryEntry.objects.filter(kind="drift", lead=None).count() == 1
    assert drift.mark(models[0].server_id) == 0


def test_others_write_while_a_file_of_models_is_imported(
    models: list[ModelProfile], monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [UserModel(model.name, model.name, model.server.kind, server=model.server.name) for model in models]
    changed = tuple(replace(entry, description="From there") for entry in entries)
    pausing(monkeypatch, written_by_another)
    user_models_merge.merge(UserModelsFile(changed), MergeConsent())
    assert others() == 2 and set(ModelProfile.objects.values_list("description", flat=True)) == {"From there"}


def test_what_is_written_stays_where_the_process_ends(
    models: list[ModelProfile], monkeypatch: pytest.MonkeyPatch
) -> None:
    def end() -> None:
        raise SystemExit

    lead, bob = decided(models, UserFactory().pk), UserFactory()
    pausing(monkeypatch, end)
    with pytest.raises(SystemExit):
        detections.open_tests([DetectionRequest(model.pk, "bulk") for model in models])
    with pytest.raises(SystemExit):
        reviews.act(reviews.UNDO, reviews.NewReview(lead, bob.pk))
    withdrawn = Override.objects.exclude(withdraws=None)
    assert Detection.objects.exclude(bulk=None).count() == 2 and withdrawn.count() == 2
    pausing(monkeypatch, lambda: None)
    again = detections.open_tests([DetectionRequest(model.pk, "bulk") for model in models])
    reviews.act(reviews.UNDO, reviews.NewReview(lead, bob.pk))
    assert [test.fresh for test in again] == [False] * 2 + [True] * 3 and withdrawn.count() == 5


def test_a_repeated_step_decides_once(models: list[ModelProfile], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_decisions, "STEP", 2)
    wanted = BulkDecision([model.pk for model in models], "vision", True, actor=UserFactory().pk)
    first, again = bulk_decisions.step(wanted), bulk_decisions.step(wanted)
    assert first.rest == again.rest == wanted.profiles[2:] and Override.objects.count() == 2


def test_a_step_in_a_transaction_makes_no_pause(models: list[ModelProfile], monkeypatch: pytest.MonkeyPatch) -> None:
    pausing(monkeypatch, written_by_another)
    with transaction.atomic():
        assert list(write_steps.of_each(models, len)) == [2, 2, 1]
    assert others() == 0

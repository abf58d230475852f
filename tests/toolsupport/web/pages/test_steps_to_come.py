"""A step that follows the verdict of a test: the pages that are open fetch its result without a reload."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.factories import ModelProfileFactory
from toolsupport.models import ModelProfile
from toolsupport.registry.testing import detections, later_steps
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, TrialRecord

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
WRITTEN = "The model wrote what the schema demands."


@pytest.fixture
def model() -> ModelProfile:
    made: ModelProfile = ModelProfileFactory()
    return made


def decided(model: ModelProfile, actor: User) -> int:
    """A test with a verdict, one of whose steps is still to come."""
    test = detections.open_test(DetectionRequest(model.pk, "bulk", actor=actor.pk)).id
    assert detections.claim("worker") == test
    assert detections.conclude(test, "worker", DetectionResult("native", values={"tools": True}, remaining=True))
    return test


def ended(test: int) -> None:
    assert later_steps.claim("worker") == test
    trial = TrialRecord("constrains", 1, {}, {"code": "right"}, True, WRITTEN, 200)
    assert later_steps.add_trial(test, "worker", trial)
    assert later_steps.conclude(test, "worker", DetectionResult("", values={"constrains": "enforced"}))


def test_the_page_of_a_test_asks_until_its_last_step_has_ended(client: Client, alice: User, model: ModelProfile):
    test = decided(model, alice)
    client.force_login(alice)
    url = reverse("detection", args=[test])
    assert f'hx-get="{url}?later=card"' in client.get(url).content.decode()
    waiting = client.get(url, {"later": "card"}, headers=HTMX)
    assert "later=card" in waiting.content.decode() and "HX-Trigger" not in waiting.headers
    # The verdict itself is news to everything else on the page.
    assert client.get(url, headers=HTMX).headers["HX-Trigger"] == "tested"
    ended(test)
    over = client.get(url, {"later": "card"}, headers=HTMX)
    assert "later=card" not in over.content.decode() and over.headers["HX-Trigger"] == "tested"
    trials = client.get(url, {"trials": "1"}, headers=HTMX).content.decode()
    assert WRITTEN in trials and "<html" not in trials


def test_the_page_of_a_model_asks_as_well(client: Client, alice: User, model: ModelProfile):
    test = decided(model, alice)
    client.force_login(alice)
    page, url = reverse("model", args=[model.pk]), reverse("detection", args=[test])
    assert f'hx-get="{url}?later=line"' in client.get(page).content.decode()
    ended(test)
    over = client.get(url, {"later": "line"}, headers=HTMX)
    assert not over.content.strip() and over.headers["HX-Trigger"] == "tested"
    face = client.get(page, headers=HTMX).content.decode()
    assert "later=line" not in face and "Enforced" in face


def test_the_matrix_shows_the_value_and_stops_to_ask(client: Client, alice: User, model: ModelProfile):
    test = decided(model, alice)
    client.force_login(alice)
    asked = {"since": str(test)}
    bulk = client.get(reverse("models-detect-progress"), asked, headers=HTMX).content.decode()
    assert "1 step left" in " ".join(bulk.split()) and 'hx-trigger="every 2s"' in bulk
    seen = bulk.partition("&amp;seen=")[2].partition('"')[0]
    ended(test)
    over = client.get(reverse("models-detect-progress"), asked | {"seen": seen}, headers=HTMX).content.decode()
    assert "step left" not in over and 'hx-trigger="every 10s"' in over
    assert f'id="model-{model.pk}"' in over and "Constrained output: enforced, test" in over

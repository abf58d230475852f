"""A model that changed since its test, on every page that shows it: Alice may test it again, Charlie may look."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.factories import ConversationFactory, ModelProfileFactory, ServerFactory
from toolsupport.models import Detection, ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.settings import team_settings
from toolsupport.registry.testing import detections, drift
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def model() -> ModelProfile:
    """It was tested, declares tools, and is another build by now; the team wants to be asked."""
    made: ModelProfile = ModelProfileFactory(name="org/strange:1b", server=ServerFactory(name="box"), digest="one")
    overrides.declare(made.pk, {"tools": True})
    conclude(made)
    ModelProfile.objects.filter(pk=made.pk).update(digest="two")
    drift.mark(made.server_id)
    return made


def conclude(model: ModelProfile) -> None:
    test = detections.open_test(DetectionRequest(model.pk, "page"))
    detections.claim("worker")
    detections.conclude(test.id, "worker", DetectionResult("native", {}, {"tools": True}, "3 of 3."))


def pages(model: ModelProfile) -> dict[str, str]:
    return {
        "model": reverse("model", args=[model.pk]),
        "models": reverse("models"),
        "history": f"{reverse('history')}?show=all",
    }


# D14
def test_every_page_offers_the_test(client: Client, alice: User, model: ModelProfile):
    chat = ConversationFactory(owner=alice, profile=model)
    client.force_login(alice)
    addresses = [*pages(model).values(), f"/chat/{chat.pk}/"]
    for address in addresses:
        page = client.get(address).content.decode()
        assert "Test again" in page or "Test again: org/strange:1b" in page, address
    again = client.post(reverse("model-detect", args=[model.pk]))
    assert again.headers["Location"] == pages(model)["model"]
    assert Detection.objects.filter(status="queued", actor=alice).count() == 1
    Detection.objects.filter(status="queued").update(status="cancelled")
    conclude(model)
    for address in addresses[1:3]:
        assert "Test again" not in client.get(address).content.decode(), address
    assert "Tested on an older build." not in client.get(addresses[0]).content.decode()


def test_who_may_not_test_sees_only_that_it_is_older(client: Client, charlie: User, model: ModelProfile):
    client.force_login(charlie)
    for name, address in pages(model).items():
        page = client.get(address).content.decode()
        assert "Test again" not in page and "detect-tools" not in page, name
    assert "older build" in client.get(pages(model)["models"]).content.decode()
    assert "Tested on an older build." in client.get(pages(model)["model"]).content.decode()
    assert client.post(reverse("model-detect", args=[model.pk])).status_code == 403


def test_the_box_drops_the_offer_while_a_test_runs(client: Client, alice: User, model: ModelProfile):
    client.force_login(alice)
    part = client.post(reverse("model-detect", args=[model.pk]), headers=HTMX, follow=True).content.decode()
    assert "detect-tools" not in part and "Tested on an older" not in part and "<span>Queued" in part


def test_the_switch_tests_what_was_noted_before(client: Client, model: ModelProfile, alice: User, bob: User):
    client.force_login(alice)
    assert client.post("/tools/switches/", {"drift": "auto"}).status_code == 403
    assert not Detection.objects.filter(trigger="drift").exists()
    client.force_login(bob)
    assert "error" not in client.post("/tools/switches/", {"drift": "auto"}).content.decode()
    assert team_settings.everything()["drift"] == "auto"
    assert Detection.objects.get(trigger="drift").profile_id == model.pk

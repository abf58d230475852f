"""A model that makes embeddings or images is kept, but not offered for a chat, not listed for one and not tested."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.core.errors import ConfigError
from toolsupport.gateway import model_list
from toolsupport.models import Detection
from toolsupport.registry.models import api_catalogue, picker
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest

pytestmark = pytest.mark.django_db

ABILITIES = [
    ([], True),
    (["completion"], True),
    (["completion", "tools"], True),
    (["tools"], True),
    (["completion", "embedding"], True),
    (["embedding"], False),
    (["embeddings"], False),
    (["image"], False),
    (["rerank"], False),
]


@pytest.mark.parametrize(("abilities", "chats"), ABILITIES)
def test_only_models_that_chat_are_offered_listed_and_tested(abilities: list[str], chats: bool) -> None:
    server = ServerFactory(name="box", reachable=True)
    profile = ModelProfileFactory(server=server, name="m", abilities=abilities, last_seen="2026-01-01T00:00Z")
    assert (profile.pk in [one.id for one in picker.choices()]) is chats
    assert picker.first_choice() == (profile.pk if chats else None)
    assert ("box/m" in [one["id"] for one in model_list.models()]) is chats
    assert api_catalogue.shown("box/m")["chats"] is chats
    if chats:
        assert detections.open_test(DetectionRequest(profile.pk, "page")).fresh
    else:
        with pytest.raises(ConfigError, match="does not chat"):
            detections.open_test(DetectionRequest(profile.pk, "page"))


def test_a_bulk_test_leaves_out_what_does_not_chat(client: Client) -> None:
    chats = ModelProfileFactory(name="chat")
    ModelProfileFactory(name="embed", abilities=["embedding"])
    client.force_login(UserFactory(role="admin"))
    client.post("/models/detect/")
    assert list(Detection.objects.values_list("profile", flat=True)) == [chats.pk]


def test_an_imported_model_that_no_server_listed_is_not_seen() -> None:
    server = ServerFactory(name="box", reachable=True)
    ModelProfileFactory(server=server, name="imported", last_seen=None)
    assert api_catalogue.shown("box/imported")["status"] == "not_seen"
    assert model_list.models() == []

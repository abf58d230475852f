"""Models defined and described by Bob (an administrator); Alice and Charlie may not."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.models import ModelProfile

pytestmark = pytest.mark.django_db


def test_bob_adds_a_model_and_lands_on_its_page(client: Client, bob: User) -> None:  # M5
    server = ServerFactory(name="box")
    client.force_login(bob)
    assert "/models/add/" in client.get("/models/").content.decode()
    answer = client.post("/models/add/", {"server": server.pk, "name": "org/own:1"}, follow=True)
    assert "org/own:1" in answer.content.decode() and "the model itself" in answer.content.decode()
    again = client.post("/models/add/", {"server": server.pk, "name": "org/own:1"})
    assert "box has a model org/own:1 already." in again.content.decode()
    assert client.post("/models/add/", {"server": "987654", "name": "x"}).status_code == 200
    for name, words in (("a\u202eb", "U+202E"), ("a\u200bb", "U+200B"), ("../a", "is a path"), ("\u2800", "is blank")):
        assert words in client.post("/models/add/", {"server": server.pk, "name": name}).content.decode()
    assert ModelProfile.objects.count() == 1


def test_bob_writes_what_a_model_is(client: Client, bob: User) -> None:  # M5
    made = ModelProfileFactory(name="strange:1b")
    client.force_login(bob)
    sent = {"enabled": "on", "description": "Ours.", "family": "qwen3", "billions": "8.2", "quantization": "Q8_0"}
    page = client.post(f"/models/{made.pk}/write/", sent, follow=True).content.decode()
    assert "8.2B · Q8_0" in page and "Ours." in page and "Edit details" in page
    form = client.get(f"/models/{made.pk}/write/").content.decode()
    assert 'value="8.2"' in form and '<option value="qwen3" selected>' in form
    wrong = client.post(f"/models/{made.pk}/write/", sent | {"billions": "many"}).content.decode()
    assert "Enter a number" in wrong


def test_where_tools_are_off_a_model_that_calls_them_is_named(client: Client, charlie: User) -> None:  # M9
    off, on = ModelProfileFactory(name="gemma3:1b"), ModelProfileFactory(name="qwen3:8b")
    client.force_login(charlie)
    assert "ollama pull qwen3:8b" in client.get(f"/models/{off.pk}/").content.decode()
    assert "ollama pull" not in client.get(f"/models/{on.pk}/").content.decode()


@pytest.mark.parametrize("path", ["/models/add/", "/models/{}/write/"])
def test_others_may_not(client: Client, alice: User, charlie: User, path: str) -> None:
    address = path.format(ModelProfileFactory().pk)
    for person in (alice, charlie):
        client.force_login(person)
        assert client.get(address).status_code == client.post(address, {}).status_code == 403


def test_without_a_server_there_is_the_way_to_one(client: Client, bob: User) -> None:
    client.force_login(bob)
    page = client.get("/models/add/").content.decode()
    assert "Add a server" in page and "<select" not in page.partition("<main")[2]

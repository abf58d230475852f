"""The server at an address is recognised before it is added: Alice may add it, Charlie may not look."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.markup import flat
from toolsupport import providers
from toolsupport.core.errors import ProviderError

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def guessed(client: Client, address: str) -> str:
    return flat(client.post(reverse("server-guess"), {"base_url": address}, headers=HTMX).content.decode())


def test_what_answers_is_offered_as_such(
    client: Client, bob: User, charlie: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {"http://box:1": "openai", "http://box:2": "vllm", "http://box:3": ""}

    async def guess(address: str) -> str:
        if address == "http://box:5":
            raise ProviderError("a key", kind="unauthorized")
        if address not in kinds:
            raise ProviderError("nothing", kind="unreachable")
        return kinds[address]

    monkeypatch.setattr(providers, "guess", guess)
    client.force_login(charlie)
    assert client.post(reverse("server-guess"), {"base_url": "http://box:1"}, headers=HTMX).status_code == 403
    client.force_login(bob)
    openai = guessed(client, "http://box:1/v1/")
    assert "This looks like an OpenAI-compatible server." in openai and 'name="kind" value="openai"' in openai
    assert 'name="base_url" value="http://box:1"' in openai and "Add server" in openai
    assert "This looks like vLLM." in guessed(client, "http://box:2")
    assert "but lists no models" in guessed(client, "http://box:3")
    silent = guessed(client, "http://box:4")
    assert "Nothing answers at <bdi>http://box:4</bdi>." in silent and "load delay:5s" in silent
    locked = guessed(client, "http://box:5")
    assert "The server at <bdi>http://box:5</bdi> needs an API key." in locked and 'name="api_key"' in locked
    assert "Nothing answers at <bdi>http://box:4</bdi>." in guessed(client, " box:4 ")
    assert 'role="alert"' in guessed(client, "ftp://box")
    assert client.post(reverse("server-guess"), {"base_url": "x"}).headers["Location"] == reverse("servers")

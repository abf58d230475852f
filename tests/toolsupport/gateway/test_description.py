"""The description for machines speaks of the addresses there are."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import resolve

from toolsupport.gateway.asking import OPTIONS
from toolsupport.gateway.description import QUESTION, document
from toolsupport.gateway.urls import PATHS


def test_every_address_of_the_gateway_is_described_and_is_there() -> None:
    described = document("http://site")["paths"]
    routes = {re.sub(r"<path:(.*)>", r"{\1}", f"/{entry.pattern}") for entry in PATHS}
    assert routes <= set(described)
    assert all(resolve(path.replace("{model_id}", "m")) for path in described)


def test_no_option_is_described_that_is_not_read() -> None:
    named = {"model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "n"}
    assert set(QUESTION["properties"]) - named <= set(OPTIONS)


@pytest.mark.django_db
def test_it_names_this_site(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert client.get("/api/openapi.json").json()["servers"] == [{"url": "http://testserver"}]

"""The description for machines speaks of the addresses there are."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.urls import urlpatterns as CHAT
from toolsupport.gateway.chat_request import OPTIONS
from toolsupport.gateway.openapi import QUESTION, document
from toolsupport.gateway.urls import urlpatterns as GATEWAY
from toolsupport.web.api_errors import PLACES
from toolsupport.web.urls import urlpatterns as PAGES


def test_every_address_for_programs_is_described_and_is_there() -> None:  # G3
    described = set(document("http://site")["paths"])
    routes = {re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{entry.pattern}") for entry in [*GATEWAY, *PAGES, *CHAT]}
    assert {route for route in routes if route.startswith(PLACES)} == described


def test_no_option_is_described_that_is_not_read() -> None:
    named = {"model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "n"}
    assert set(QUESTION["properties"]) - named <= set(OPTIONS)


@pytest.mark.django_db
def test_it_names_this_site(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert client.get("/api/openapi.json").json()["servers"] == [{"url": "http://testserver"}]

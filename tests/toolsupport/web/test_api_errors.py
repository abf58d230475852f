"""Every error under /v1 and /api is JSON in the shape of its API, for any path and method."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.markup import flat
from tests.tables import every
from toolsupport.registry.people import api_keys

pytestmark = pytest.mark.django_db
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "FOO")
UNKNOWN = (
    *("/v1", "/v1/", "/v1/nothing", "/v1/chat", "/v1/chat/completions/", "/v1/models/none", "/v1//models"),
    *("/api", "/api/", "/api/nothing", "/api/tools/execute/", "/api/detections/none", "/api/detections/999999"),
)
# Address → the methods that it takes.
TAKEN = {
    "/v1/models": {"GET", "HEAD"},
    "/v1/chat/completions": {"POST"},
    "/api/models": {"GET", "HEAD"},
    "/api/models/x/detect": {"POST"},
    "/api/detections/999999": {"GET", "HEAD"},
    "/api/tools/execute": {"POST"},
    "/api/openapi.json": {"GET", "HEAD"},
}


@pytest.fixture
def headers(alice: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {api_keys.create(alice.pk, 'laptop')}"}


def asked(method: str, path: str, headers: dict[str, str]) -> Any:
    return Client(raise_request_exception=False).generic(method, path, headers=headers)


def is_error(answer: Any, method: str) -> bool:
    assert answer.headers["Content-Type"] == "application/json"
    error = answer.json()["error"] if method != "HEAD" else None
    return error is None or (set(error) == {"message", "type", "param", "code"} and bool(error["message"]))


@every("path", UNKNOWN)
def test_an_unknown_address_is_an_error_in_json(headers: dict[str, str], path: str) -> None:  # G7
    for method in METHODS:
        answer = asked(method, path, headers)
        assert answer.status_code in (404, 405) and is_error(answer, method), (method, answer.content[:100])


@every("path", TAKEN)
def test_a_method_that_an_address_does_not_take_is_an_error_in_json(headers: dict[str, str], path: str) -> None:  # G7
    for method in set(METHODS) - TAKEN[path]:
        answer = asked(method, path, headers)
        assert answer.status_code == 405 and is_error(answer, method), method
        assert set(answer.headers["Allow"].split(", ")) == TAKEN[path]
    for method in TAKEN[path]:
        assert asked(method, path, headers).status_code != 405


@every("path", UNKNOWN)
def test_a_stranger_gets_json_and_learns_nothing(db: None, path: str) -> None:
    answer = asked("GET", path, {})
    assert answer.status_code == 401 and is_error(answer, "GET")


def test_the_address_of_a_form_has_a_page_for_a_browser(client: Client, alice: User) -> None:
    client.force_login(alice)
    answer = client.get("/account/password/")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert "This address has no page" in answer.content.decode() and "Sections" in answer.content.decode()
    assert client.delete("/models/").content == b""
    # It leads to the nearest page above it.
    for address, above in (
        ("/account/password/", "/account/"),
        ("/servers/7/check/", "/servers/7/"),
        ("/logout/", "/"),
    ):
        assert f'class="button main" href="{above}"' in flat(client.get(address).content.decode()), address


def test_pages_stay_pages(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get("/v10/models").headers["Content-Type"].startswith("text/html")
    assert client.post("/history/").status_code == 405


PAGES = ("/", "/login/", "/models/", "/chat/new/", "/admin/", "/admin/auth/user/", "/healthz", "/metrics", "/nowhere/")


@every("path", PAGES)
def test_no_address_takes_trace(admin_client: Client, path: str) -> None:
    answer = admin_client.generic("TRACE", path, headers={"X-Secret": "seen"})
    assert answer.status_code in (302, 404, 405) and b"seen" not in answer.content
    assert Client().generic("TRACE", path).status_code in (302, 403, 404, 405)

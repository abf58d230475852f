"""The error pages."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client, RequestFactory

from toolsupport.config.logs import JsonFormatter
from toolsupport.registry.models import profiles
from toolsupport.web.pages import errors


@pytest.mark.django_db
def test_what_is_not_there_says_so_to_everybody(client: Client, alice: User):
    assert client.get("/nothing/").status_code == 404
    client.force_login(alice)
    assert "Page not found" in client.get("/nothing/").content.decode()


@pytest.mark.django_db
def test_a_refusal_names_the_reason(client: Client, charlie: User):
    client.force_login(charlie)
    answer = client.post("/chat/new/")
    assert answer.status_code == 403
    assert "Your role does not allow you to chat." in answer.content.decode()


def test_a_failure_needs_no_database_and_tells_no_details():
    request = RequestFactory().get("/")
    answer = errors.failed(request)
    assert answer.status_code == 500
    assert "The site failed" in answer.content.decode()


@pytest.mark.parametrize(
    ("view", "status"), [(errors.bad_request, 400), (errors.forbidden, 403), (errors.missing, 404)]
)
def test_the_text_of_an_exception_is_not_markup(view, status: int):
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    answer = view(request, ValueError("<script>alert(1)</script>"))
    assert answer.status_code == status
    assert b"<script>alert" not in answer.content


def test_a_form_that_was_open_too_long_says_what_to_do():
    request = RequestFactory().post("/")
    request.user = AnonymousUser()
    answer = errors.stale_form(request)
    assert (answer.status_code, b"Reload it" in answer.content) == (403, True)
    of_program = errors.stale_form(RequestFactory().post("/v1/responses"))
    assert (of_program.status_code, b"A program sends an API key" in of_program.content) == (403, True)


@pytest.mark.django_db
def test_what_broke_is_in_the_log_without_its_secrets_and_not_on_the_page(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):  # SAFETY 2 (Secrets)
    def breaks(*given: object) -> None:
        raise RuntimeError("password=canary-in-an-error")

    monkeypatch.setattr(profiles, "listed", breaks)
    client.force_login(alice)
    client.raise_request_exception = False
    answer = client.get("/models/?token=canary-in-an-address")
    assert answer.status_code == 500 and "canary" not in answer.content.decode()
    lines = [JsonFormatter().format(record) for record in caplog.records]
    assert any("RuntimeError" in line for line in lines) and "canary" not in str(lines)


def test_a_wrong_host_name_is_explained(client: Client) -> None:
    for path in ("/", "/v1/models"):
        answer = client.get(path, headers={"Host": "other.example"})
        assert answer.status_code == 400 and "TOOLSUPPORT_ALLOWED_HOSTS" in answer.content.decode()

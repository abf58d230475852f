"""Whether the site is alive, ready, and what it counts."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.utils import OperationalError
from django.test import AsyncClient, Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from toolsupport.services import doctor
from toolsupport.services.doctor import Finding

pytestmark = pytest.mark.django_db


def test_alive_for_everybody(client: Client):  # O4
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "no-store" in answer.headers["Cache-Control"]
    assert client.head("/healthz").status_code == 200
    assert client.post("/healthz").status_code == 405


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "10.0.0.11:8001", "toolsupport-7d9.pods.internal", "[::1]:8000"])
def test_a_process_behind_https_answers_health_checks_at_its_own_address(host: str, settings: Settings):
    """They send neither the name of the site nor `X-Forwarded-Proto`; people are redirected or refused as before."""
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["chat.example.org"], True
    settings.ENV = settings.ENV | {"TOOLSUPPORT_METRICS_TOKEN": "t" * 32}
    direct, named = Client(headers={"Host": host}), Client(headers={"Host": "chat.example.org"})
    assert direct.get("/healthz").json() == {"status": "ok"} and direct.get("/readyz").status_code == 200
    assert direct.get("/metrics", headers={"Authorization": f"Bearer {'t' * 32}"}).status_code == 200
    assert direct.get("/metrics").status_code == 401
    for address in ("/login/", "/v1/models", "/healthz/", "/healthz/x"):
        assert named.get(address).status_code == 301
        assert direct.get(address).status_code == 400


def test_ready_once_every_migration_is_there(client: Client, monkeypatch: pytest.MonkeyPatch):  # O4
    monkeypatch.setattr(doctor, "_migrated", False)
    with monkeypatch.context() as patch:
        patch.setattr(doctor, "tables", lambda: Finding("database", False, "Migrations are missing."))
        answer = client.get("/readyz")
        assert (answer.status_code, "doctor" in answer.json()["why"]) == (503, True)
    assert (client.get("/readyz").status_code, client.get("/readyz").json()) == (200, {"status": "ready"})


def test_not_ready_while_the_database_does_not_answer(client: Client, monkeypatch: pytest.MonkeyPatch):
    def refuse() -> None:
        raise OperationalError("unable to open /secret/place/db.sqlite3")

    monkeypatch.setattr(connection, "cursor", refuse)
    answer = client.get("/readyz")
    assert answer.status_code == 503 and "/secret/place" not in answer.content.decode()


def _counted(text: str) -> dict[str, float]:
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {f"{one.name}{sorted(one.labels.items()) or ''}": one.value for one in samples}


def test_requests_and_sign_ins_are_counted(client: Client, settings: Settings):  # O4
    settings.ENV = settings.ENV | {"TOOLSUPPORT_METRICS_LOOPBACK": True}
    settings.BEHIND_HTTPS = False
    before = _counted(client.get("/metrics").content.decode())
    client.post("/login/", {"username": "nobody", "password": "x"})
    client.get("/nothing/")
    after = _counted(client.get("/metrics").content.decode())
    for name in (
        "toolsupport_requests_total[('method', 'GET'), ('status', '404')]",
        "toolsupport_sign_ins_total[('outcome', 'tried')]",
    ):
        assert after[name] == before.get(name, 0) + 1
    assert {"toolsupport_sockets", "toolsupport_turns_running"} <= set(after)


def test_metrics_are_closed_unless_opened(client: Client, settings: Settings, alice: User, bob: User):
    settings.BEHIND_HTTPS = False
    assert client.get("/metrics").status_code == 404
    for person, status in ((alice, 404), (bob, 200)):
        client.force_login(person)
        assert client.get("/metrics").status_code == status
    settings.ENV = settings.ENV | {"TOOLSUPPORT_METRICS_LOOPBACK": True}
    local, other = Client(), Client(REMOTE_ADDR="10.0.0.7")
    assert (local.get("/metrics").status_code, other.get("/metrics").status_code) == (200, 404)
    # A page whose name leads a browser on this machine here.
    assert local.get("/metrics", headers={"Host": "evil.example"}).status_code == 404
    for header in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"):
        assert local.get("/metrics", headers={header: "127.0.0.1"}).status_code == 404
    settings.BEHIND_HTTPS = True
    assert local.get("/metrics").status_code == 404


def test_a_token_closes_the_metrics(client: Client, settings: Settings, alice: User, bob: User):
    settings.ENV = settings.ENV | {"TOOLSUPPORT_METRICS_TOKEN": "a long enough token"}
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer a long enough token"}).status_code == 200
    for person, status in ((alice, 401), (bob, 200)):
        client.force_login(person)
        assert client.get("/metrics").status_code == status


@pytest.mark.parametrize("given", ["0123-abc", "x", "<script>alert(1)</script>", "a" * 99, "a\tb-and-more"])
def test_every_answer_has_a_number(client: Client, given: str):
    answered = client.get("/healthz", headers={"X-Request-ID": given}).headers["X-Request-ID"]
    assert (answered == given) == (given == "0123-abc")
    assert len(answered) >= 8 and answered.replace("-", "").isalnum()


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_a_number_under_asgi_too():
    assert (await AsyncClient().get("/healthz")).headers["X-Request-ID"]


def test_the_line_tells_the_route_and_not_the_address(client: Client, caplog: pytest.LogCaptureFixture):
    client.get("/join/?token=canary-token")
    client.get("/canary-in-the-path/")
    client.get("/healthz")
    lines = [record.getMessage() for record in caplog.records if record.name == "toolsupport.web.request_log"]
    assert len(lines) == 2 and lines[0].startswith("GET /join/ 403 in ")
    assert "canary" not in str(lines)

"""A link made on the machine of the site signs a person in once; the password form can be switched off."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests.factories import PASSWORD, UserFactory
from toolsupport.core.errors import NotFound
from toolsupport.registry.people import accounts, sign_in_links
from toolsupport.services import serve_lock

pytestmark = pytest.mark.django_db


def link(capsys: pytest.CaptureFixture[str], name: str) -> str:
    call_command("sign_in_link", name, "--url=http://testserver")
    return capsys.readouterr().out.strip().removeprefix("http://testserver")


def test_a_link_signs_in_once(
    client: Client, bob: User, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:  # P4
    settings.ENV = settings.ENV | {"TOOLSUPPORT_PASSWORD_SIGN_IN": False}
    path = link(capsys, "bob")
    token = path.partition("token=")[2]
    assert "signs you in as" in client.get(path).content.decode()
    assert client.get("/account/").status_code == 302  # a preview of the link uses nothing up
    assert client.post("/login/link/", {"token": token}).status_code == 302
    assert client.get("/people/").status_code == 200
    assert Client().post("/login/link/", {"token": token}).status_code == 403


def test_a_link_ends_with_time_and_password(bob: User, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    old, other = (link(capsys, "bob").partition("token=")[2] for _ in range(2))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + timedelta(minutes=16).total_seconds())
    assert Client().post("/login/link/", {"token": old}).status_code == 403
    monkeypatch.undo()
    bob.set_password("another long passphrase")
    bob.save()
    assert Client().post("/login/link/", {"token": other}).status_code == 403


def test_links_of_invitations_do_not_sign_in(bob: User, alice: User) -> None:
    invitation = accounts.new_link(bob.pk, alice.pk).token
    assert Client().post("/login/link/", {"token": invitation}).status_code == 403
    assert Client().get("/join/", {"token": sign_in_links.make("bob").partition(":")[0]}).status_code == 403


@pytest.mark.parametrize("name", ["eve", "alice"])
def test_there_is_none_for_who_may_not_sign_in(alice: User, name: str) -> None:
    User.objects.update(is_active=False)
    with pytest.raises(CommandError, match="who may sign in"):
        call_command("sign_in_link", name)


def test_passwords_can_be_switched_off(client: Client, bob: User, settings: Any) -> None:  # P4
    settings.ENV = settings.ENV | {"TOOLSUPPORT_PASSWORD_SIGN_IN": False}
    assert 'name="password"' not in client.get("/login/").content.decode()
    assert client.post("/login/", {"username": "bob", "password": PASSWORD}).status_code == 403
    assert client.get("/account/").status_code == 302


def statuses_at_once(path: str, token: str) -> list[int]:
    """The answers to four requests that begin together."""
    together = Barrier(4)

    def post(number: int) -> int:
        password = f"a long passphrase {number}"
        try:
            together.wait(10)
            return Client().post(path, {"token": token, "password": password, "again": password}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(post, range(4)))


@pytest.mark.django_db(transaction=True)
def test_of_several_uses_at_once_one_counts() -> None:  # P4
    admin = UserFactory(role="admin")
    for _ in range(6):
        person = UserFactory()
        assert statuses_at_once("/login/link/", sign_in_links.make(person.username)).count(302) == 1
        assert statuses_at_once("/join/", accounts.new_link(admin.pk, person.pk).token).count(302) == 1


def test_a_use_in_the_second_of_the_last_sign_in_counts(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = timezone.now().replace(microsecond=1000)
    for microsecond in (2000, 3000):
        User.objects.filter(pk=bob.pk).update(last_login=moment)
        token = sign_in_links.make(bob.username)
        monkeypatch.setattr(timezone, "now", lambda micro=microsecond: moment.replace(microsecond=micro))
        sign_in_links.use(token)
        with pytest.raises(NotFound):
            sign_in_links.use(token)
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("written", "link"),
    [
        ("process 7 at http://0.0.0.0:8123\n", "http://127.0.0.1:8123"),
        ("process 7 at http://localhost:81\n", "http://localhost:81"),
        ("process 7 at http://192.168.7.5:81\n", "http://192.168.7.5:81"),
        ("process 7 at http://[::1]:81\n", "http://[::1]:81"),
        ("process 7 at http://[::]:81\n", "http://127.0.0.1:81"),
        ("served at http://127.0.0.1:82\n", "http://127.0.0.1:82"),
        ("process 7 at the command restore\nserved at http://127.0.0.1:83\n", "http://127.0.0.1:83"),
        ("", "http://first.example"),
        ("process 7 at http://x:y\n", "http://first.example"),
    ],
)
def test_a_link_leads_to_the_address_that_serves(
    bob: User, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any, written: str, link: str
) -> None:
    (tmp_path / "served").write_text(written)
    monkeypatch.setattr(serve_lock, "lock_file", lambda: tmp_path / "served")
    settings.ENV, settings.ORIGINS = settings.ENV | {"TOOLSUPPORT_ORIGINS": []}, ["http://first.example"]
    call_command("sign_in_link", bob.username)
    assert capsys.readouterr().out.startswith(f"{link}/login/link/?token=")


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_the_address_of_the_last_start_outlasts_a_restore(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, vendor: str
) -> None:
    monkeypatch.setattr(connection, "vendor", vendor)
    monkeypatch.setattr(serve_lock, "_held", None)
    settings.DATA_DIR, settings.ENV = tmp_path, settings.ENV | {"TOOLSUPPORT_ORIGINS": [], "REDIS_URL": ""}
    if vendor == "sqlite":
        monkeypatch.setitem(settings.DATABASES["default"], "NAME", str(tmp_path / "rows.sqlite3"))
    for work in ("http://127.0.0.1:8123", "the command restore", "http://203.0.113.9:1", "the command restore"):
        serve_lock.take(work)
        if "127" in work:  # the others do not come to listen
            serve_lock.note(work)
        if vendor == "sqlite":
            assert serve_lock.lock_file().read_text().splitlines()[0].endswith(f"at {work}")
            assert serve_lock._held
            serve_lock._held.close()
        settings.ORIGINS = ["http://127.0.0.1:8000"]
        serve_lock.adopt_address()
        assert settings.ORIGINS[0] == "http://127.0.0.1:8123"

"""The possible faults of an installation, and their remedies."""

from __future__ import annotations

import os
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from pytest_django import Settings

from tests.factories import ServerFactory, UserFactory
from tests.house import ROOT
from tests.serving import free_port
from tests.toolsupport.stand_in import Servers
from toolsupport.models import ExternalIdentity, Server
from toolsupport.providers import ServerReport
from toolsupport.registry.servers import servers
from toolsupport.services import doctor
from toolsupport.services.doctor import Finding

pytestmark = pytest.mark.django_db(transaction=True)


def _found() -> dict[str, Finding]:
    return {finding.what: finding for finding in doctor.examine()}


def test_a_sound_installation(bob: User, servers_out_there: Servers):
    servers_out_there.reports["http://box:1"] = ServerReport("0.13.0")
    ServerFactory(name="box", base_url="http://box:1")
    found = _found()
    assert set(found) == {
        *("data directory", "database", "administrator", "server box", "simulator"),
        *("origins", "quotas", "metrics", "channel layer", "audit", "stolen passwords", "encryption key"),
        "signing key",
        "settings",
    }
    assert all(finding.ok for finding in found.values())


def test_a_server_that_is_down_is_broken_but_a_simulator_at_rest_is_not(servers_out_there: Servers):
    ServerFactory(name="box", base_url="http://box:1")
    servers.ensure_simulator("http://127.0.0.1:1")
    found = _found()
    assert found["server box"].ok is False
    assert "ollama serve" in found["server box"].words
    assert found["server Simulator"].ok is None
    assert found["administrator"].ok is None


def test_nothing_at_all_is_worth_knowing(servers_out_there: Servers):
    assert _found()["servers"].ok is None


def test_servers_are_asked_and_none_is_added_or_changed(settings: Settings, servers_out_there: Servers):
    settings.ENV = settings.ENV | {"TOOLSUPPORT_SERVERS": ["new=ollama+http://new:1"], "OLLAMA_HOST": "down:1"}
    servers_out_there.reports["http://new:1"] = ServerReport("0.13.0")
    box = ServerFactory(name="box", base_url="http://box:1")
    before = list(Server.objects.values())
    found = _found()
    assert "The next start adds it." in found["server new"].words
    assert [found[f"server {name}"].ok for name in ("new", "Ollama", "box")] == [True, False, False]
    assert list(Server.objects.values()) == before
    assert box.profiles.count() == 0


def test_ollama_at_its_usual_address_is_found_but_not_added(settings: Settings, servers_out_there: Servers):
    servers_out_there.reports[doctor.USUAL_OLLAMA.base_url] = ServerReport("0.13.0")
    assert _found()["server Ollama"].ok is True
    assert not Server.objects.exists()


def test_a_bad_entry_of_the_environment_is_named(settings: Settings, servers_out_there: Servers):
    settings.ENV = settings.ENV | {"TOOLSUPPORT_SERVERS": ["nonsense"]}
    assert _found()["servers"].ok is False


ISSUER = "https://id.example.org"
PASSWORDS_OFF = {"TOOLSUPPORT_PASSWORD_SIGN_IN": False}
PROVIDER = PASSWORDS_OFF | {"TOOLSUPPORT_OIDC_ISSUER": ISSUER, "TOOLSUPPORT_OIDC_CLIENT_ID": "site"}
PROXY = PASSWORDS_OFF | {"TOOLSUPPORT_TRUSTED_HEADER": "X-Remote-User"}
LINK = "None of them can sign in now: bob. Run: manage.py sign_in_link NAME"


# P4
@pytest.mark.parametrize(
    ("environment", "password", "issuer", "ok", "words"),
    [
        ({}, True, "", True, "1, who can sign in"),
        ({}, False, "", False, LINK),
        ({}, False, ISSUER, False, LINK),
        (PASSWORDS_OFF, True, "", False, LINK),
        (PROVIDER, True, "", False, LINK),
        (PROVIDER, True, ISSUER, True, "1, who can sign in"),
        (PROVIDER, True, "https://former.example.org", False, LINK),
        (PROVIDER, False, "", True, "1, who can sign in"),  # the first sign-in connects an invited account
        (PROVIDER | {"TOOLSUPPORT_OIDC_CLIENT_ID": ""}, True, ISSUER, False, LINK),
        (PROXY, True, "", False, LINK),
        (PROXY | {"TOOLSUPPORT_TRUSTED_PROXIES": (ip_network("127.0.0.1/32"),)}, False, "", True, "1, who can sign in"),
    ],
)
def test_an_administrator_who_can_sign_in_by_the_ways_of_now(
    bob: User, settings: Settings, environment: dict[str, object], password: bool, issuer: str, ok: bool, words: str
):
    UserFactory(username="alice", role="user")
    settings.ENV = settings.ENV | environment
    if not password:
        bob.set_unusable_password()
        bob.save()
    if issuer:
        ExternalIdentity.objects.create(person=bob, issuer=issuer, subject="1", used_at=timezone.now())
    [found] = doctor.administrator()
    assert (found.ok, found.words) == (ok, words)


def test_administrators_who_are_gone_or_without_a_way_are_named(bob: User):  # P4
    ana = UserFactory(username="ana", role="admin")
    ana.set_unusable_password()
    ana.save()
    [found] = doctor.administrator()
    assert (found.ok, found.words) == (None, "1 of 2 can sign in. Without a way: ana")
    User.objects.update(is_active=False)
    [found] = doctor.administrator()
    assert (found.ok, found.words) == (
        False,
        "No active one is left. Run: manage.py createsuperuser --username NAME",
    )


def test_missing_migrations_end_the_examination():
    loader, recorder = MigrationLoader(connection), MigrationRecorder(connection)
    last = loader.graph.leaf_nodes("toolsupport")[0]
    # A squashed migration counts as applied as long as all that it replaces are.
    steps = [last, *loader.disk_migrations[last].replaces]
    for step in steps:
        recorder.record_unapplied(*step)
    try:
        found = _found()
    finally:
        for step in steps:
            recorder.record_applied(*step)
    assert found["database"] == Finding(
        "database", False, "Migrations are missing (1). `manage.py serve` applies them at its start."
    )
    assert "servers" not in found


def test_a_data_directory_that_others_can_look_into_is_told(settings: Settings, tmp_path: Path):
    settings.DATA_DIR = tmp_path
    tmp_path.chmod(0o755)
    assert doctor.data_directory().ok is None
    tmp_path.chmod(0o700)
    for name, mode in (("static/site.css", 0o644), ("workspaces/one/a.txt", 0o644), ("backups/copy", 0o600)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch(mode)
        (tmp_path / name).chmod(mode)
    assert doctor.data_directory().ok is True
    (tmp_path / "backups" / "copy").chmod(0o640)
    found = doctor.data_directory()
    assert found.ok is None and "backups/copy (1 such files). Restrict them: chmod -R go-rwx" in found.words
    settings.DATA_DIR = tmp_path / "missing"
    assert doctor.data_directory().ok is False


@pytest.mark.parametrize(
    ("origins", "debug", "ok", "told"),
    [
        (["https://chat.example.org"], False, True, "chat.example.org"),
        (["https://elsewhere.org"], False, False, "TOOLSUPPORT_ALLOWED_HOSTS"),
        (["localhost:8000"], False, False, "scheme, name and port"),
        (["https://chat.example.org/chat"], False, False, "scheme, name and port"),
        (["https://chat.example.org", "http://localhost:8000"], False, None, "mixed"),
        (["https://chat.example.org"], True, False, "TOOLSUPPORT_DEBUG"),
        (["http://127.0.0.1:8000", "http://[::1]:8000"], True, True, "127.0.0.1"),
    ],
)
def test_origins_and_hosts_fit_together(settings: Settings, origins, debug, ok, told):  # O3
    settings.ALLOWED_HOSTS = ["chat.example.org", "127.0.0.1", "localhost", "[::1]"]
    settings.ORIGINS, settings.DEBUG = origins, debug
    found = doctor.origins()
    assert found.ok is ok
    assert told in found.words


@pytest.mark.parametrize(
    ("token", "loopback", "https", "ok", "words"),
    [
        ("", False, True, True, "by administrators"),
        ("a token of enough letters", False, True, True, "with the token"),
        ("guess me", False, False, False, "can be guessed"),
        ("", True, False, True, "every program on this machine"),
        ("", True, True, None, "no effect behind https"),
    ],
)
def test_who_reads_the_metrics(settings: Settings, token: str, loopback: bool, https: bool, ok, words: str):
    settings.ENV = settings.ENV | {"TOOLSUPPORT_METRICS_TOKEN": token, "TOOLSUPPORT_METRICS_LOOPBACK": loopback}
    settings.BEHIND_HTTPS = https
    assert (doctor.metrics().ok, words in doctor.metrics().words) == (ok, True)


@pytest.mark.parametrize(
    ("given", "key", "ok"),
    [(True, "k" * 31, False), (True, "k" * 32, True), (False, "k", False), (False, "k" * 50, True)],
)
def test_a_signing_key_that_can_be_guessed_is_a_fault(settings: Settings, given: bool, key: str, ok: bool):
    settings.ENV = settings.ENV | {"given": frozenset({"TOOLSUPPORT_SECRET_KEY"} if given else ())}
    settings.SECRET_KEY = key
    found = doctor.signing_key()
    assert found.ok is ok and key not in found.words.split()


def test_a_channel_layer_that_does_not_answer_is_broken(settings: Settings):
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels_redis.core.NotThere"}}
    assert doctor.layer().ok is False


def test_a_wrong_name_of_a_setting_is_named(monkeypatch: pytest.MonkeyPatch):  # O3
    monkeypatch.setenv("TOOLSUPPORT_QOUTA_REQUESTS_DAY", "5")
    monkeypatch.setenv("TOOLSUPPORT_SERVER_BOX_KEY", "a key of a server")
    found = doctor.variables()
    assert found.ok is None and found.words.startswith("TOOLSUPPORT_QOUTA_REQUESTS_DAY: there is no such setting")
    assert found.words.endswith("Is TOOLSUPPORT_QUOTA_REQUESTS_DAY meant?")


def test_the_reason_why_postgresql_does_not_answer_is_named():  # O3
    """A pool gives only the time for which it waited."""
    words = [sys.executable, "manage.py", "doctor"]
    address = f"postgresql://nobody@127.0.0.1:{free_port()}/none"
    ran = subprocess.run(words, cwd=ROOT, env=dict(os.environ, DATABASE_URL=address), capture_output=True, text=True)
    assert "database: " in ran.stdout, ran.stderr
    [line] = [one for one in ran.stdout.splitlines() if "  database: " in one]
    assert ran.returncode == 1 and "Connection refused" in line and line.endswith("Check DATABASE_URL.")

"""The checks of how the site is run: backup, proxies, processes."""

from __future__ import annotations

import json
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from tests.serving import free_port
from tests.span_receiver import span_receiver
from toolsupport.config import traces
from toolsupport.services import deployment_checks


@pytest.mark.parametrize(
    ("days", "ok", "words"),
    [(None, None, "There was none yet. Run: "), (0, True, "made 0 days ago"), (8, None, "Make one each day")],
)
def test_the_age_of_the_backup(tmp_path: Path, settings: Any, days: int | None, ok: bool | None, words: str) -> None:
    settings.DATA_DIR = tmp_path
    if days is not None:
        file = tmp_path / "site.tar"
        file.touch()
        noted = {"at": (timezone.now() - timedelta(days=days, hours=1)).isoformat(), "file": str(file)}
        (tmp_path / "last_backup.json").write_text(json.dumps(noted))
    found = deployment_checks.backup()
    assert found.ok is ok and words in found.words


def test_a_backup_that_is_gone(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    noted = {"at": timezone.now().isoformat(), "file": str(tmp_path / "gone.tar")}
    (tmp_path / "last_backup.json").write_text(json.dumps(noted))
    found = deployment_checks.backup()
    assert found.ok is None and "no longer exists" in found.words


@pytest.mark.parametrize(("named", "ok"), [("", True), ("LITTLE", None), ("TOO_LITTLE", False)])
def test_the_disk(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, named: str, ok: bool | None) -> None:
    settings.DATA_DIR = tmp_path
    for name in ("LITTLE", "TOO_LITTLE"):
        monkeypatch.setattr(deployment_checks, name, 2**60 if name == named else 0)
    found = deployment_checks.disk()
    assert found.ok is ok and f"MiB free at {tmp_path}" in found.words


@pytest.mark.parametrize(
    ("writable", "ok", "words"),
    [({"/tmp"}, True, "in /tmp"), (set(), False, "Mount one at /tmp, or name one in TMPDIR")],
)
def test_the_folder_of_temporary_files(
    monkeypatch: pytest.MonkeyPatch, writable: set[str], ok: bool, words: str
) -> None:  # O3
    monkeypatch.setattr(deployment_checks, "_writable", writable.__contains__)
    found = deployment_checks.temporary_files()
    assert found.ok is ok and words in found.words


def test_only_a_folder_that_takes_a_file_is_writable(tmp_path: Path) -> None:
    assert deployment_checks._writable(str(tmp_path))
    assert not deployment_checks._writable("/proc") and not deployment_checks._writable(str(tmp_path / "none"))


def test_a_note_that_cannot_be_read_counts_as_no_backup(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "last_backup.json").write_text('{"at": 7}')
    assert deployment_checks.backup().ok is None


@pytest.mark.parametrize(
    ("declared", "https", "ok", "words"),
    [
        ((), False, True, "none"),
        ((), True, None, "private networks"),
        (("127.0.0.1/32",), True, True, "counts from 127.0.0.1/32"),
        (("10.0.0.0/8", "0.0.0.0/0"), True, False, "any address"),
        (("::/0",), False, False, "any address"),
    ],
)
def test_the_proxies(settings: Any, declared: tuple[str, ...], https: bool, ok: bool | None, words: str) -> None:
    settings.ENV = settings.ENV | {"TOOLSUPPORT_TRUSTED_PROXIES": tuple(map(ip_network, declared))}
    settings.BEHIND_HTTPS = https
    found = deployment_checks.proxies()
    assert found.ok is ok and words in found.words


@pytest.mark.parametrize(
    ("database", "redis", "ok", "words"),
    [
        ("sqlite", "", True, "--processes"),
        ("sqlite", "redis://a", True, "on this machine"),
        ("postgresql", "", None, "REDIS_URL is not set"),
        ("postgresql", "redis://a", True, "on any machine"),
    ],
)
def test_the_processes(settings: Any, database: str, redis: str, ok: bool | None, words: str) -> None:
    settings.ENV = settings.ENV | {"REDIS_URL": redis}
    found = deployment_checks.processes(database)
    assert found.ok is ok and words in found.words


def test_how_long_rows_are_kept(settings: Any) -> None:
    settings.ENV = settings.ENV | {"TOOLSUPPORT_KEEP_CHATS_DAYS": 30}
    found = deployment_checks.retention()
    assert found.ok and found.words.startswith("kept: chats 30 days, exchanges for ever, ")


@pytest.mark.parametrize(
    ("origins", "password", "ok", "words"),
    [
        (["https://tools.example.org", "https://192.0.2.7"], True, True, "at https://tools.example.org"),
        (["http://127.0.0.1:8000"], True, None, "IP address"),
        (["http://tools.lan"], True, None, "need https"),
        (["https://tools.example.org"], False, None, "password is switched off"),
    ],
)
def test_the_addresses_with_passkeys(settings: Any, origins: list[str], password: bool, ok: Any, words: str) -> None:
    settings.ORIGINS = origins
    settings.ENV = settings.ENV | {"TOOLSUPPORT_PASSWORD_SIGN_IN": password}
    found = deployment_checks.passkey_addresses()
    assert found.ok is ok and words in found.words


@pytest.mark.parametrize(
    ("status", "installed", "ok", "words"),
    [
        (None, True, True, "off; TOOLSUPPORT_TRACES names a collector"),
        (200, False, False, "Run: pip install 'toolsupport[traces]'"),
        (200, True, True, "/v1/traces"),
        (404, True, False, "answers 404"),
        (302, True, False, "answers 302"),
        (0, True, False, "does not answer (ConnectError)"),
    ],
)
def test_the_collector_of_traces(
    settings: Any, monkeypatch: pytest.MonkeyPatch, status: int | None, installed: bool, ok: bool, words: str
) -> None:
    monkeypatch.setattr(traces, "installed", lambda: installed)
    with span_receiver(status or 200) as receiver:
        place = receiver.url if status else f"http://127.0.0.1:{free_port()}"
        settings.ENV = settings.ENV | {"TOOLSUPPORT_TRACES": "" if status is None else place}
        found = deployment_checks.trace_collector()
    assert found.ok is ok and words in found.words
    assert len(receiver.requests) == bool(status and installed)


def test_an_address_of_a_collector_that_is_none(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "installed", lambda: True)
    for place in ("127.0.0.1:4318", "http://", "http://[", "ftp://127.0.0.1", "http://127.0.0.1:99999", "x y"):
        settings.ENV = settings.ENV | {"TOOLSUPPORT_TRACES": place}
        assert deployment_checks.trace_collector().ok is False

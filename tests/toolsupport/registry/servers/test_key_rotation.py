"""The key of stored secrets is replaced while the site runs, and a kill at any moment loses none of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, models

from tests.databases import ROOT
from tests.factories import ServerFactory, UserFactory
from tests.house import sources
from tests.tables import every
from toolsupport.models import McpServer, Server, SqlSource
from toolsupport.models.encrypted import EncryptedTextField
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.factors import second_factors
from toolsupport.registry.servers import key_encryption, key_ring, key_rotation
from toolsupport.services import doctor

SECRETS = [f"sk-canary-{number}" for number in range(7)]


def _stored() -> list[str]:
    """What the rows hold, decrypted by a process that reads the keys now."""
    rows = [*Server.objects.order_by("pk").values_list("api_key", flat=True)]
    rows += [*McpServer.objects.values_list("token", flat=True), *SqlSource.objects.values_list("location", flat=True)]
    return [key_encryption.decrypt(row) for row in rows]


def _fill() -> None:
    for secret in SECRETS[:5]:
        ServerFactory(api_key=key_encryption.encrypt(secret))
    McpServer.objects.create(name="files", kind="http", token=key_encryption.encrypt(SECRETS[5]))
    sql_sources.add(sql_sources.NewSource("shop", "sqlite", SECRETS[6]))


@pytest.fixture
def secrets(db: None, settings, tmp_path: Path) -> None:
    """A site of its own with seven secrets, and no key from the environment."""
    settings.DATA_DIR = tmp_path
    settings.ENV = settings.ENV | {"given": frozenset()}
    _fill()


def _run(*options: str) -> str:
    out = StringIO()
    call_command("rotate_encryption_key", *options, stdout=out)
    return out.getvalue()


def _finding() -> doctor.Finding:
    return next(doctor.encryption())


def _states() -> set[str]:
    return {value.state for value in key_rotation.values()}


def test_a_rotation_from_the_signing_key_and_twice_more(secrets: None, settings, tmp_path: Path):
    assert "derived from the signing key, encrypts 7" in _finding().words
    for _ in range(3):
        assert "Encrypted 7 values" in _run()
        assert _stored() == SECRETS and _states() == {"current"}
    assert (tmp_path / key_ring.FILE).stat().st_mode & 0o777 == 0o600
    assert _finding().ok is None and "--drop-old" in _finding().words
    assert "Removed 3 older keys" in _run("--drop-old")
    assert _finding().ok is True and "made 0 days ago, encrypts 7" in _finding().words
    settings.SECRET_KEY = "another"  # nothing depends on it any more
    assert _stored() == SECRETS


@every("steps", range(9))
def test_a_run_that_ends_after_any_step_goes_on(secrets: None, tmp_path: Path, steps: int):
    (tmp_path / key_ring.FILE).unlink(missing_ok=True)
    for model, _ in key_rotation.columns():
        model._base_manager.all().delete()
    _fill()
    key_rotation.begin(past_unreadable=False)
    run = key_rotation.encrypt_again()
    for _ in range(min(steps, 7)):
        next(run)
    if steps < 8:
        del run  # the process is killed: nothing after the last statement happens
        assert "not finished" in _finding().words
        if steps < 7:
            with pytest.raises(CommandError, match="older key"):
                _run("--drop-old")
    else:
        assert list(run) == []
    assert _stored() == SECRETS
    first = key_ring.keys()[0].secret
    out = _run()
    assert f"Encrypted {max(7 - steps, 0) if steps < 8 else 7} value" in out
    assert (key_ring.keys()[0].secret == first) == (steps < 8)
    assert _stored() == SECRETS and _states() == {"current"}


KILLED = """
import os, signal, sys, django
django.setup()
from toolsupport.registry.servers import key_ring, key_rotation
with key_ring.exclusive():
    key_rotation.begin(past_unreadable=False)
    for number, _ in enumerate(key_rotation.encrypt_again(), 1):
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.django_db(transaction=True)
def test_a_killed_process_and_the_one_that_serves_meanwhile(settings, tmp_path: Path):
    settings.DATA_DIR, settings.ENV = tmp_path, settings.ENV | {"given": frozenset()}
    (tmp_path / "secret_key").write_text("a signing key of the site")
    settings.SECRET_KEY = "a signing key of the site"
    _fill()
    database = connection.settings_dict
    url = f"sqlite:///{database['NAME']}"
    if connection.vendor == "postgresql":
        url = f"postgresql://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    environment = os.environ | {
        "DATABASE_URL": url,
        "TOOLSUPPORT_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "toolsupport.config.settings",
    }
    died = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, env=environment, timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL
    assert sorted(value.state for value in key_rotation.values()) == ["current"] * 3 + ["older"] * 4
    assert _stored() == SECRETS  # this process, which began before, reads both keys
    late = ServerFactory(api_key=key_encryption.encrypt("sk-written-meanwhile"))
    assert "Encrypted 4 values" in _run()
    assert key_encryption.decrypt(Server.objects.get(pk=late.pk).api_key) == "sk-written-meanwhile"
    assert _states() == {"current"}


def test_what_a_person_saves_meanwhile_is_kept(secrets: None):
    key_rotation.begin(past_unreadable=False)
    server = Server.objects.earliest("pk")
    old = key_encryption.box(key_ring.keys()[1:])  # of a process that read the keys a moment before
    run = key_rotation.encrypt_again()
    next(run)
    last = Server.objects.order_by("pk")[4]
    for row, secret in ((server, "sk-new-1"), (last, "sk-new-2")):
        Server.objects.filter(pk=row.pk).update(api_key=old.encrypt(secret.encode()).decode())
    list(run)
    assert _stored() == ["sk-new-1", *SECRETS[1:4], "sk-new-2", *SECRETS[5:]]
    assert _states() == {"current"}


def test_the_wrong_keys_change_nothing(secrets: None, settings, tmp_path: Path):
    settings.SECRET_KEY, right = "another", settings.SECRET_KEY
    before = list(Server.objects.values_list("api_key", flat=True))
    with pytest.raises(CommandError, match="Nothing was changed"):
        _run()
    assert list(Server.objects.values_list("api_key", flat=True)) == before
    assert not (tmp_path / key_ring.FILE).exists() and _finding().ok is False
    settings.SECRET_KEY = right
    ServerFactory(api_key="lost for ever")
    with pytest.raises(CommandError, match="server"):
        _run()
    assert "Encrypted 7 values" in _run("--past-unreadable")


def test_a_damaged_file_is_named(secrets: None, tmp_path: Path):
    _run()
    for content in ("", "{}", "[1]", json.dumps({"keys": [{"key": "x"}]})):
        (tmp_path / key_ring.FILE).write_text(content)
        assert _finding().ok is False and key_ring.FILE in _finding().words


def test_one_rotation_at_a_time(secrets: None):
    with key_ring.exclusive(), pytest.raises(CommandError, match="Another process"):
        _run()


def test_keys_of_the_environment(secrets: None, settings):
    settings.ENV = settings.ENV | {"given": frozenset({"TOOLSUPPORT_SECRET_KEY"})}
    with pytest.raises(CommandError, match="environment"):
        _run()
    old, new = "o" * 40, "n" * 40
    for ring, state in (([old], "older"), ([new, old], "older"), ([new], "current")):
        settings.ENV = settings.ENV | {key_ring.VARIABLE: ring}
        assert _states() == {state} and _stored() == SECRETS
        _run()
        assert _states() == {"current"}
    settings.SECRET_KEY = "another"
    assert _stored() == SECRETS
    with pytest.raises(CommandError, match="environment"):
        _run("--drop-old")


def test_every_encrypted_value_has_the_type_of_a_column_that_is_rotated(secrets: None):
    """A value of Fernet begins with gAAAAA wherever it stands."""
    second_factors.begin(UserFactory())
    found = set()
    for model in apps.get_models():
        texts = [one for one in model._meta.concrete_fields if isinstance(one, models.CharField | models.TextField)]
        for field in texts:
            rows = model._base_manager.filter(**{f"{field.attname}__contains": "gAAAAA"})
            if rows.exists():
                found.add((model, field.attname))
                assert isinstance(field, EncryptedTextField)
    assert found == set(key_rotation.columns())
    # These store what they encrypt in such a column; another module belongs here once its rows are in `_fill`.
    users = [one.path for one in sources("toolsupport", "chat") if "key_encryption.encrypt(" in one.text]
    assert sorted(path.rpartition("/")[2] for path in users) == [
        *("mcp_servers.py", "second_factors.py", "server_edits.py", "servers.py", "sql_sources.py")
    ]

"""Valid and refused values of DATABASE_URL in the environment."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

from tests.conftest import OTHER_DATABASE
from toolsupport.config import environment
from toolsupport.core.errors import ConfigError


def database(url: str) -> dict[str, object]:
    return environment.database({"DATABASE_URL": url}, Path("/data"))


# O2
def test_unset_means_sqlite_in_the_data_directory() -> None:
    assert database("")["NAME"] == "/data/toolsupport.sqlite3"


@pytest.mark.parametrize("name", ["C#", "what?", "100%25", "a b", "Übung"])
def test_the_folder_of_the_data_may_have_any_name(name: str) -> None:
    file = f"/home/ana/{name}/toolsupport.sqlite3"
    assert environment.database({"DATABASE_URL": ""}, Path(file).parent)["NAME"] == file
    assert database(f"sqlite:///{quote(file)}")["NAME"] == file


@pytest.mark.parametrize(("name", "former"), [("a#b", "a"), ("what?", "what"), ("50%25", "50%/toolsupport.sqlite3")])
def test_the_file_of_an_older_version_is_named_until_it_is_moved(tmp_path: Path, name: str, former: str) -> None:
    old, directory = tmp_path / former, tmp_path / name
    directory.mkdir()
    old.parent.mkdir(exist_ok=True)
    old.write_bytes(b"rows")
    with pytest.raises(ConfigError, match="Move that file") as refused:
        environment.database({"DATABASE_URL": ""}, directory)
    assert f"at {old}, " in str(refused.value)
    new = old.rename(directory / "toolsupport.sqlite3")
    assert environment.database({"DATABASE_URL": ""}, directory)["NAME"] == str(new)


# O2
@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_an_address_of_postgresql_gives_pooled_checked_connections(scheme: str) -> None:
    found = database(f"{scheme}://ana:p%40ss@db.example:5433/team%20one?sslmode=require")
    assert found["ENGINE"] == "toolsupport.config.postgresql"
    assert [found[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT")] == [
        *("team one", "ana", "p@ss", "db.example", "5433"),
    ]
    assert (found["CONN_MAX_AGE"], found["CONN_HEALTH_CHECKS"]) == (0, True)
    named = {"pool": environment.POOL, "sslmode": "require", "application_name": f"toolsupport {os.getpid()}"}
    assert found["OPTIONS"] == {**environment.NETWORK, **named}
    shorter = database(f"{scheme}://db.example/team?tcp_user_timeout=900")["OPTIONS"]
    assert isinstance(shorter, dict) and shorter["tcp_user_timeout"] == "900"


def test_a_local_socket_needs_no_host() -> None:
    found = database("postgresql:///team?host=/run/postgresql")
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("", "", "team")
    found = database("postgresql://ana@%2Frun%2FPostgreSQL:5433/team")
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("/run/PostgreSQL", "5433", "team")


@pytest.mark.parametrize(
    "url",
    [
        *("mysql://x:secret@y/z", "postgresql://x:secret@y", "postgresql://y:po:rt/z", "x"),
        *("sqlite://", "sqlite:///", "sqlite://data/rows.sqlite3", "sqlite:////data/C#/rows.sqlite3", "sqlite:///a?b"),
    ],
)
def test_anything_else_is_refused_in_words_that_tell_no_password(url: str) -> None:
    with pytest.raises(ConfigError, match="postgresql://user:password@host/name") as refused:
        database(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("given", ["hunter2", f"{'k' * 40},hunter2", f"hunter2 , {'k' * 40}", "k" * 31])
def test_a_short_key_of_stored_secrets_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(ConfigError, match="use 32 characters or more") as refused:
        environment.read({"TOOLSUPPORT_ENCRYPTION_KEYS": given})
    assert "hunter2" not in str(refused.value) and "kkk" not in str(refused.value)
    assert environment.read({"TOOLSUPPORT_ENCRYPTION_KEYS": "k" * 32})["TOOLSUPPORT_ENCRYPTION_KEYS"] == ["k" * 32]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://chat.example.org", "https://chat.example.org"),
        ("https://chat.example.org/", "https://chat.example.org"),
        ("HTTPS://Chat.Example.org:443/", "https://chat.example.org"),
        ("http://box:80", "http://box"),
        ("http://box:443", "http://box:443"),
        ("https://box:8443", "https://box:8443"),
        ("http://[FE80::80]:8000", "http://[fe80::80]:8000"),
        ("http://[fe80::80]", "http://[fe80::80]"),
        # `doctor` reports these as they were written.
        ("chat.example.org", "chat.example.org"),
        ("https://chat.example.org/x", "https://chat.example.org/x"),
    ],
)
def test_an_origin_is_read_as_browsers_send_it(written: str, sent: str) -> None:
    """Passkeys, https and sockets compare it: with a slash at its end no passkey could be added."""
    found = environment.read({"TOOLSUPPORT_ORIGINS": f"{written}, https://b.example/"})["TOOLSUPPORT_ORIGINS"]
    assert found == [sent, "https://b.example"]


def test_the_suite_runs_on_the_database_it_was_given() -> None:
    wanted = "postgresql" if OTHER_DATABASE.startswith("postgres") else "sqlite"
    assert connection.vendor == wanted


# A number of days or hours beyond what a date can hold would fail at each use.
@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("TOOLSUPPORT_KEEP_CHATS_DAYS", "36500", ["-1", "36501", "1e3", "9" * 30, "ten", "9" * 5000]),
        ("TOOLSUPPORT_OIDC_HOURS", "8760", ["0", "8761", "9" * 30]),
        ("TOOLSUPPORT_DRAIN_SECONDS", "0", ["-1", "0.5", "9" * 30]),
        ("TOOLSUPPORT_QUOTA_TOKENS_DAY", "2000000000", ["-1", "9" * 30]),
    ],
)
def test_numbers_are_within_bounds(name: str, good: str, bad: list[str]) -> None:
    assert environment.read({name: good})[name] == int(good)
    for value in bad:
        with pytest.raises(ConfigError, match=name):
            environment.read({name: value})

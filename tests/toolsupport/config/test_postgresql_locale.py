"""`doctor` reports a database whose locale compares only ASCII letters in any case."""

from __future__ import annotations

import uuid
from urllib.parse import urlsplit

import psycopg
import pytest

from tests import databases
from toolsupport.config import environment
from toolsupport.config.postgresql.base import DatabaseWrapper
from toolsupport.services import deployment_checks


@pytest.mark.django_db
@pytest.mark.parametrize(("locale", "reported"), [("C", True), ("C.UTF-8", False)])
def test_a_locale_that_compares_only_ascii_letters(
    monkeypatch: pytest.MonkeyPatch, locale: str, reported: bool
) -> None:
    place = urlsplit(databases.needed("TOOLSUPPORT_TEST_DATABASE_URL", databases.POSTGRESQL))
    name = f"toolsupport_{uuid.uuid4().hex}"
    with psycopg.connect(place._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE \"{name}\" TEMPLATE template0 LOCALE '{locale}'".encode())
        try:
            values = environment.postgresql(place._replace(path=f"/{name}")) | {"AUTOCOMMIT": True}
            values["OPTIONS"].pop("pool", None)
            read = DatabaseWrapper({"TIME_ZONE": None, "TEST": {}} | values, "a database of this locale")
            monkeypatch.setattr(deployment_checks, "connection", read)
            found = list(deployment_checks.letters())
            read.close()
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
    assert [(one.ok, f"locale {locale} " in one.words) for one in found] == ([(None, True)] if reported else [])

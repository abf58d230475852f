"""What every test has: a database file of its own, a data directory of its own, three people."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections

from tests import databases
from tests.factories import UserFactory
from toolsupport.config import environment

_DIRECTORY = TemporaryDirectory(prefix="toolsupport-tests-")
DATA_DIR = Path(_DIRECTORY.name)

# Another database to run the tests on, as in DATABASE_URL; the name gets `test_` put before it.
OTHER_DATABASE = os.environ.get("TOOLSUPPORT_TEST_DATABASE_URL", "")

# Fast, since a test database need not outlive the machine; a short timeout, so that a lock shows itself.
PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA foreign_keys=ON;"


# A busy machine is no reason for a property to fail.
hypothesis.settings.register_profile("suite", deadline=None, max_examples=40)
# What `make nightly` asks for by its name.
hypothesis.settings.register_profile("nightly", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    # Settings are loaded before this file is: what depends on the machine is replaced here.
    os.environ["TOOLSUPPORT_DATA_DIR"] = str(DATA_DIR)
    settings.ENV = environment.read({"TOOLSUPPORT_DATA_DIR": str(DATA_DIR)})
    settings.DATA_DIR = DATA_DIR
    settings.WORKSPACES_DIR = DATA_DIR / "workspaces"
    settings.STATIC_ROOT = DATA_DIR / "static"
    # Every client of a test has middleware of its own, which would look at each static file before its first request.
    settings.SERVESTATIC_USE_FINDERS = False
    settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    if OTHER_DATABASE:
        use_database(OTHER_DATABASE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts sites begins first: it takes long, and with several processes none is left alone with it."""
    items.sort(key=lambda item: not starts_sites(item))


def starts_sites(item: pytest.Item) -> bool:
    module = item.getparent(pytest.Module)
    named = vars(module.obj).values() if module else ()
    return any(getattr(one, "__module__", "") in ("tests.serving", "tests.e2e.conftest") for one in named)


def use_database(url: str) -> None:
    """Take another database than the one the settings came with."""
    connections.close_all()
    del connections["default"]
    settings.DATABASES = {"default": environment.database({"DATABASE_URL": url}, DATA_DIR)}
    connections.settings = connections.configure_settings(settings.DATABASES)


def pytest_unconfigure(config: pytest.Config) -> None:
    _DIRECTORY.cleanup()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    # A file, not memory: async code reaches the rows from other threads.
    database = connections["default"].settings_dict
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["NAME"] = str(DATA_DIR / "unused.sqlite3")
        database["TEST"]["NAME"] = str(DATA_DIR / "test.sqlite3")
        database["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "timeout": 5, "init_command": PRAGMAS}


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    yield
    if OTHER_DATABASE:
        databases.disconnect(connections["default"].settings_dict["NAME"])


@pytest.fixture(scope="session", autouse=True)
def _connections_end_with_the_tests() -> Iterator[None]:
    yield
    connections.close_all()
    databases.KEPT.close()


@pytest.fixture
def alice(db: None) -> User:
    """Owns: an ordinary user."""
    return UserFactory(username="alice", role="user")


@pytest.fixture
def bob(db: None) -> User:
    """May: an administrator."""
    return UserFactory(username="bob", role="admin")


@pytest.fixture
def charlie(db: None) -> User:
    """May not: signed in, but only a viewer."""
    return UserFactory(username="charlie", role="viewer")

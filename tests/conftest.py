"""Fixtures of every test: a database and a data directory of its own, three people, and a running site on request."""

from __future__ import annotations

import gc
import os
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import httpx
import hypothesis
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.template import Engine, Template
from django.test import TransactionTestCase
from django.test.utils import _TestState

from tests import databases, examples, fast_tests  # noqa: F401 registers the profiles
from tests.exam_sites import jobs, simulator  # noqa: F401 fixtures
from tests.factories import UserFactory
from tests.installed import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401 hooks
from tests.serving import Site, serving, sign_in
from toolsupport.config import environment
from toolsupport.providers import transport
from toolsupport.registry import storage
from toolsupport.registry.people import quotas
from toolsupport.web.authentication import api_key_auth
from toolsupport.web.pages import navigation

_DIRECTORY = TemporaryDirectory(prefix="toolsupport-tests-")
DATA_DIR = Path(_DIRECTORY.name)
TEMPLATE = DATA_DIR / "template.sqlite3"
MOST_TRIES = 40  # of a copy, a quarter of a second apart

# Another database to run the tests on, as in DATABASE_URL; the name gets `test_` put before it.
OTHER_DATABASE = os.environ.get("TOOLSUPPORT_TEST_DATABASE_URL", "")

# The sites that files share, while the tests run.
SHARED = pytest.StashKey[ExitStack]()

# Fast, since a test database need not outlive the machine; a short timeout, so that a lock shows itself.
PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA foreign_keys=ON;"

# Rows and files of this process need not survive a crash of the machine; sites, which are killed, have their own.
os.fsync = lambda fd: None

# Each client of httpx loads the trusted certificates, which takes 20 ms; tests open thousands, few of them with TLS.
httpx._transports.default.create_ssl_context = cache(httpx.create_ssl_context)  # type: ignore[attr-defined]

# A server on the same machine needs no time before it is asked again.
transport.PAUSES, transport.LOADING_PAUSE = (0.001, 0.002), 0.01

hypothesis.settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    # Settings are loaded before this file is: what depends on the machine is replaced here.
    os.environ["TOOLSUPPORT_DATA_DIR"] = str(DATA_DIR)
    settings.ENV = environment.read({"TOOLSUPPORT_DATA_DIR": str(DATA_DIR)})
    settings.DATA_DIR = DATA_DIR
    settings.WORKSPACES_DIR = DATA_DIR / "workspaces"
    settings.STATIC_ROOT = DATA_DIR / "static"
    settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
    # Django starts a thread and an event loop for each request of a test's client where one part is async only. Static
    # files are tested on running sites.
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if not name.startswith("servestatic.")]
    # Pages name two bundles, as where static files are collected, instead of twenty files.
    settings.SERVESTATIC_USE_FINDERS = False
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    if OTHER_DATABASE:
        use_database(OTHER_DATABASE)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: looking for garbage meanwhile takes a seventh of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts sites begins first: it takes long, and with several processes none is left alone with it.

    Tests in a browser come last: Playwright keeps an event loop running, which no test of coroutines may meet.
    """
    for item in items:
        file = item.path.relative_to(databases.ROOT / "tests").as_posix()
        if fast_tests.is_fast(file, getattr(item, "originalname", ""), starts_sites(item)):
            item.add_marker("fast")
    items.sort(key=lambda item: 2 if "e2e" in item.path.parts else not starts_sites(item))


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end: no collection of garbage needs to look at them again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def starts_sites(item: pytest.Item) -> bool:
    module = item.getparent(pytest.Module)
    return module is not None and imports_sites(module.obj)


@cache
def imports_sites(module: ModuleType) -> bool:
    return any(getattr(one, "__module__", "") == "tests.serving" for one in vars(module).values())


def pytest_runtest_setup(item: pytest.Item) -> None:
    """End the shared sites before the first test that needs none: files with sites begin first, and sites cost time."""
    if SHARED in item.session.stash and not ("sites" in getattr(item, "fixturenames", ()) or starts_sites(item)):
        item.session.stash[SHARED].close()


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
    """Give this process a migrated database of its own."""
    connection = connections["default"]
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        # A file, not memory: async code reaches the rows from other threads.
        database["NAME"] = str(DATA_DIR / "unused.sqlite3")
        database["TEST"]["NAME"] = str(DATA_DIR / "test.sqlite3")
        database["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "timeout": 5, "init_command": PRAGMAS}
        for file in (DATA_DIR / "test.sqlite3", TEMPLATE):
            file.write_bytes(databases.migrated_file())
    else:
        databases.copy(connection.creation._get_test_db_name())  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """The database was migrated before it was copied."""
    return True


def restored(test: TransactionTestCase) -> None:
    """Make the database as it was copied, groups and permissions included: a flush that makes these anew costs more."""
    database = connections["default"]
    database.ensure_connection()
    if OTHER_DATABASE:
        databases.empty(database.connection)
        return
    tries = count()

    def give_up(status: int, left: int, pages: int) -> None:
        assert next(tries) < MOST_TRIES, "the test left the database locked"

    with closing(sqlite3.connect(TEMPLATE)) as template:
        template.backup(database.connection, progress=give_up)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    TransactionTestCase._fixture_teardown = restored  # type: ignore[attr-defined]
    yield
    if OTHER_DATABASE:
        databases.drop(connections["default"].settings_dict["NAME"])


@pytest.fixture(scope="session", autouse=True)
def _templates_render_as_they_do(django_test_environment: None) -> None:
    """No copies of contexts for the tests' clients: pages are compared by what they show."""
    Template._render = _TestState.saved_data.template_render  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def _connections_end_with_the_tests() -> Iterator[None]:
    yield
    connections.close_all()


@pytest.fixture(autouse=True)
def _no_state_of_the_test_before() -> None:
    """The quotas that this process has read are those of the test before, and keys of that test had the same ids.

    After a write that failed, leases that ran out are not judged for some time.
    """
    storage.state = storage.StorageState()
    quotas.table.forget()
    api_key_auth.rate = api_key_auth.RateLimiter()


@pytest.fixture
def bare_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without the bars around them, for tables over many pages: those take most of the time of a small page.

    `tests/test_offered_acts.py` and `tests/test_queries.py` take every page with them.
    """
    engine = Engine.get_default()
    partials: Any = engine.template_loaders[0]
    (loader,) = partials.loaders
    nothing = engine.from_string("")
    for part in ("topbar", "palette", "keyboard", "news"):
        monkeypatch.setitem(loader.get_template_cache, f"parts/{part}.html", nothing)
    monkeypatch.setattr(navigation, "_counts", lambda allowed: (0, navigation.NO_MARKS))


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


@pytest.fixture(scope="session")
def sites(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Site]]:
    """Sites by their settings: one of each for all files of this process that ask for it."""
    with ExitStack() as running:
        request.session.stash[SHARED] = running

        @cache
        def site_with(**environment: str) -> Site:
            running.callback(site_with.cache_clear)
            return running.enter_context(serving(tmp_path_factory.mktemp("site"), **environment))

        yield site_with


@pytest.fixture(scope="module")
def site(sites: Callable[..., Site]) -> Site:
    """The site with the simulated models: files share it, so each test has conversations and people of its own."""
    return sites().alive()


@pytest.fixture(scope="module")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site for one file: for tests that change what is known of models, or look at all that happened."""
    with serving(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture(scope="module")
def ana(site: Site) -> Iterator[httpx.Client]:
    """The administrator of that site, signed in."""
    with closing(sign_in(site)) as client:
        yield client

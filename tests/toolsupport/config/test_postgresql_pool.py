"""A query waits for a connection while all of them are in use."""

from __future__ import annotations

import threading
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests import databases
from toolsupport.config import environment
from toolsupport.config.postgresql.base import DatabaseWrapper


def wrapper(settings: dict[str, Any]) -> DatabaseWrapper:
    defaults: dict[str, Any] = {"ATOMIC_REQUESTS": False, "AUTOCOMMIT": True, "TIME_ZONE": None, "TEST": {}}
    return DatabaseWrapper(defaults | settings, "a pool of its own")


@pytest.mark.django_db
def test_a_query_waits_longer_than_one_try_of_the_pool_while_all_connections_are_in_use() -> None:
    url = databases.needed("TOOLSUPPORT_TEST_DATABASE_URL", databases.POSTGRESQL)
    settings = environment.postgresql(urlsplit(url)._replace(path="/postgres"))
    settings["OPTIONS"]["pool"] |= {"min_size": 1, "max_size": 1}
    holder, found = wrapper(settings), list[Any]()
    holder.ensure_connection()

    def wait() -> None:
        waiter = wrapper(settings)
        try:
            with waiter.cursor() as cursor:
                cursor.execute("SELECT 1")
                found.append(cursor.fetchone())
        except Exception as error:
            found.append(error)
        finally:
            waiter.close()

    thread = threading.Thread(target=wait)
    thread.start()
    pool: Any = holder.pool
    while not pool.get_stats().get("requests_errors") and not found:
        thread.join(0.05)
    holder.close()
    thread.join(30)
    holder.close_pool()
    assert found == [(1,)]

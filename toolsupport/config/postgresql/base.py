"""Takes connections from the pool: waits long where all are in use, and not at all while the server is away.

Commands wait for a slow server as well.

The pool alone waits 20 s either way. One thread does most of the queries, so that with a stopped server the notice came
after 20 s, and a page after minutes.
"""

from __future__ import annotations

import time
from typing import Any

from django.db import OperationalError
from django.db.backends.postgresql import base

from toolsupport.config.postgresql.watched_connection import WatchedConnection, time_to_answer

# Seconds: how long a query waits while all connections are in use, and how long after a failure the next try begins.
# The pool's own `timeout` and `reconnect_timeout` are in toolsupport/config/environment.py.
BUSY, RETRY = 20.0, 1.0
AWAY = "the database server does not answer"


class ServerAbsence:
    """Whether connecting failed just now. Any thread may call it."""

    def __init__(self) -> None:
        self._failed = float("-inf")

    def lasts(self) -> bool:
        """Return whether a failure is so recent that another try would only wait."""
        return time.monotonic() - self._failed < RETRY

    def begun(self) -> None:
        """Record a failure."""
        self._failed = time.monotonic()


_absence = ServerAbsence()


class DatabaseWrapper(base.DatabaseWrapper):
    """One thread's connection."""

    def __init__(self, settings_dict: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(settings_dict, *args, **kwargs)
        pool = settings_dict["OPTIONS"].get("pool")
        if isinstance(pool, dict):
            pool.setdefault("connection_class", WatchedConnection)

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection of the pool. Raises OperationalError."""
        pool = self.pool
        if pool is None:
            return super().get_new_connection(conn_params)
        if _absence.lasts() and not pool.get_stats().get("pool_available"):
            raise OperationalError(AWAY)
        deadline = time.monotonic() + BUSY
        while True:
            failures = _failures(pool)
            try:
                return super().get_new_connection(conn_params)
            except self.Database.OperationalError:  # not Django's class, to which callers convert it
                if _failures(pool) > failures:
                    _absence.begun()
                    raise
                if time.monotonic() > deadline or (time_to_answer.serving and not _full(pool)):
                    raise


def _full(pool: Any) -> bool:
    """Return whether all connections that the pool may have are in use; otherwise it waits for the server."""
    stats = pool.get_stats()
    return bool(stats["pool_size"] >= stats["pool_max"])


def _failures(pool: Any) -> int:
    """Return how many tries to connect have failed so far."""
    return int(pool.get_stats().get("connections_errors", 0))

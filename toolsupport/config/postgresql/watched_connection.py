"""Ends queries whose server does not answer any more, such as one beyond a network that drops every packet.

A query may take long, so its time proves nothing. While it waits, a second connection is made every PATIENCE seconds:
where the server answers neither of the two, the query fails.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any, Self, TypeVar

import psycopg

Value = TypeVar("Value")
Wait = Generator[Any, Any, Value]

# Seconds without an answer before the server is tried.
PATIENCE = 2.0
SILENT = "the database server does not answer"


class TimeToAnswer:
    """How long a server may take to accept a connection, in seconds.

    A site that serves notices soon that it is away, and shows why. Before that, and in commands, nothing is gained: a
    busy machine would only end a start or a backup that could have succeeded.
    """

    SERVING, ELSE = 2, 20

    def __init__(self) -> None:
        self.serving = False

    def serve(self) -> None:
        self.serving = True

    @property
    def seconds(self) -> int:
        return self.SERVING if self.serving else self.ELSE

    def at_least(self, words: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of a new connection, with at least this time."""
        return words | {"connect_timeout": max(int(words.get("connect_timeout") or 0), self.seconds)}


time_to_answer = TimeToAnswer()


class WatchedConnection(psycopg.Connection[Any]):
    """A connection whose queries fail some seconds after its server went silent."""

    @classmethod
    def connect(cls, conninfo: str = "", **words: Any) -> Self:
        """Connect; raises OperationalError after the time that a server has to answer."""
        return super().connect(conninfo, **time_to_answer.at_least(words))

    def wait(self, gen: Wait[Value], *args: Any, **kwargs: Any) -> Value:
        """Wait for an answer. Raises OperationalError, also where the server went silent."""
        return super().wait(self._watched(gen), *args, **kwargs)

    def _watched(self, gen: Wait[Value]) -> Wait[Value]:
        """Pass on what the socket is ready for; psycopg sends nothing (0) ten times a second while it is not."""
        try:
            wanted, tried = next(gen), time.monotonic()
            while True:
                ready = yield wanted
                if ready:
                    tried = time.monotonic()
                elif time.monotonic() - tried > PATIENCE:
                    self._try_server()
                    tried = time.monotonic()
                wanted = gen.send(ready)
        except StopIteration as end:
            value: Value = end.value
            return value

    def _try_server(self) -> None:
        """Raise OperationalError if a second connection gets no answer either."""
        words: dict[str, Any] = {**self.info.get_parameters(), "password": self.info.password}
        words["connect_timeout"] = time_to_answer.seconds
        try:
            psycopg.connect(**words).close()
        except psycopg.errors.ConnectionTimeout as error:
            self._cut()
            raise psycopg.OperationalError(SILENT) from error
        except psycopg.OperationalError:
            return  # It refuses ("too many connections"), so it is there; a closed port ends the query by itself.

    def _cut(self) -> None:
        """Close the connection without a word to its server."""
        with suppress(psycopg.Error):
            self.close()

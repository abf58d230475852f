"""Closes the sockets of people who lost access, within two seconds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.contrib.auth import HASH_SESSION_KEY

from toolsupport.config import metrics
from toolsupport.core.error_statuses import CLOSED, ERRORS
from toolsupport.core.errors import NotAllowed
from toolsupport.registry.people import socket_access
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.people.socket_access import SocketAccess
from toolsupport.services.task_supervisor import every

PERIOD = 1.0  # seconds
CODES = {socket_access.SIGNED_OUT: CLOSED + 401, socket_access.FORBIDDEN: ERRORS[NotAllowed].close}

Close = Callable[[int], Awaitable[None]]
Ticket = object


def pass_of(scope: Mapping[str, Any]) -> SocketAccess:
    """Return the basis of this socket's access."""
    session = scope["session"]
    return SocketAccess(scope["user"].pk, session.session_key or "", session.get(HASH_SESSION_KEY, ""))


class SocketRevocation:
    """Registers every open socket of this process, and checks all of them together once a second."""

    def __init__(self) -> None:
        self._inside: dict[Ticket, tuple[SocketAccess, Close]] = {}

    def admit(self, held: SocketAccess, close: Close, most: int) -> Ticket | None:
        """Watch a socket until `forget`; `close` ends it with a code. Returns None if the person has `most` already."""
        if sum(one.person == held.person for one, _ in self._inside.values()) >= most:
            return None
        ticket = object()
        self._inside[ticket] = (held, close)
        return ticket

    def forget(self, ticket: Ticket) -> None:
        self._inside.pop(ticket, None)

    async def watch(self) -> None:
        """Check every second. Ends only by being cancelled."""
        await every(PERIOD, self.look, "check the rights of open sockets")

    async def look(self) -> None:
        """Close the sockets that lost access."""
        if not self._inside:
            return
        held = {one for one, _ in self._inside.values()}
        refused = await in_database(socket_access.refused)(held, Action.CHAT)
        for ticket, (one, close) in list(self._inside.items()):
            if one in refused:
                self.forget(ticket)
                metrics.REVOKED.labels(refused[one]).inc()
                # A browser that went away meanwhile needs no closing.
                with suppress(Exception):
                    await close(CODES[refused[one]])

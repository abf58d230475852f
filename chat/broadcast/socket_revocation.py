"""Closes the sockets of people who may not hold them any more, within two seconds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.contrib.auth import HASH_SESSION_KEY

from toolsupport.config import metrics
from toolsupport.core.error_table import CLOSED, ERRORS
from toolsupport.core.errors import NotAllowed
from toolsupport.registry.people import socket_access
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.people.socket_access import SocketAccess

log = logging.getLogger(__name__)

PERIOD = 1.0  # seconds
CODES = {socket_access.SIGNED_OUT: CLOSED + 401, socket_access.FORBIDDEN: ERRORS[NotAllowed].close}

Close = Callable[[int], Awaitable[None]]
Ticket = object


def pass_of(scope: Mapping[str, Any]) -> SocketAccess:
    """What let this socket in."""
    session = scope["session"]
    return SocketAccess(scope["user"].pk, session.session_key or "", session.get(HASH_SESSION_KEY, ""))


class SocketRevocation:
    """Knows every open socket of this process; asks once a second for all of them together."""

    def __init__(self) -> None:
        self._inside: dict[Ticket, tuple[SocketAccess, Close]] = {}

    def admit(self, held: SocketAccess, close: Close, most: int) -> Ticket | None:
        """Watch over a socket until `forget`; `close` ends it with a code. None where the person has `most` already."""
        if sum(one.person == held.person for one, _ in self._inside.values()) >= most:
            return None
        ticket = object()
        self._inside[ticket] = (held, close)
        return ticket

    def forget(self, ticket: Ticket) -> None:
        self._inside.pop(ticket, None)

    async def watch(self) -> None:
        """Look around every second. Ends only by being cancelled."""
        while True:
            await asyncio.sleep(PERIOD)
            try:
                await self.look()
            except Exception:
                log.exception("could not check the rights of open sockets, retrying in a second")

    async def look(self) -> None:
        """Close what must not stay open."""
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

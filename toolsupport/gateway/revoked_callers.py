"""Finds the callers of running answers whose key or account lost access."""

from __future__ import annotations

from collections.abc import Callable, Collection

from channels.db import database_sync_to_async as in_database

from toolsupport.gateway.request_preparation import Caller
from toolsupport.registry.people import revoked_access
from toolsupport.registry.people.permissions import Action
from toolsupport.services.task_supervisor import every

PERIOD = 1.0  # seconds


class RevokedCallers:
    """Checks all callers of this process together, once a second while an answer runs."""

    def __init__(self, running: Callable[[], Collection[Caller]]) -> None:
        self._running = running
        self._refused: frozenset[Caller] = frozenset()

    def has(self, caller: Caller) -> bool:
        """Return whether this caller lost access, by the last check."""
        return bool(self._refused) and caller in self._refused  # an empty set would compute the hash of the caller too

    async def watch(self) -> None:
        """Check every second. Ends only by being cancelled."""
        await every(PERIOD, self.look, "check the keys of running answers")

    async def look(self) -> None:
        """Check the callers of the answers that run now."""
        held = {(caller.person, caller.key) for caller in self._running()}
        refused = await in_database(revoked_access.refused)(held, Action.CHAT) if held else ()
        self._refused = frozenset(Caller(person, key) for person, key in refused)

"""Updates the status of a server by its answers in chats and to programs, not only by its listings."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial

from channels.db import database_sync_to_async as in_database
from django.db import DatabaseError, InterfaceError

from toolsupport.core import server_faults
from toolsupport.core.events import Event, Failed
from toolsupport.registry.servers import reachability
from toolsupport.registry.servers.reachability import WatchedModel

log = logging.getLogger(__name__)


async def watched(
    model: WatchedModel | None, batches: AsyncGenerator[list[Event], None]
) -> AsyncGenerator[list[Event], None]:
    """Pass the batches on; store what they show about the server. A server that answers as expected costs nothing."""
    up = model is None or model.up
    async with aclosing(batches):
        async for batch in batches:
            failed = batch[-1] if isinstance(batch[-1], Failed) else None
            if model is not None and (failed or not up):
                await _keep(_finding(model, failed))
            up = True
            yield batch


async def _keep(finding: Callable[[], None] | None) -> None:
    """Store it, if there is one; no answer is lost if that fails."""
    if finding is None:
        return
    try:
        await in_database(finding)()
    except (DatabaseError, InterfaceError):
        log.exception("could not write the status of a server")


def _finding(model: WatchedModel, event: Failed | None) -> Callable[[], None] | None:
    """Return the new status after a failure, or after the first sign of a server that was down; None for others."""
    if event is None:
        return partial(reachability.answered_in_use, model.server)
    if event.kind == "unreachable":
        return partial(reachability.failed_in_use, model.server, event.message, server_faults.UNREACHABLE)
    if event.status == 401:
        # 403 may be about one model or one region; 401 is about the key.
        return partial(reachability.failed_in_use, model.server, event.message, server_faults.WRONG_KEY)
    if server_faults.model_missing(event.status, event.body):
        return partial(reachability.model_missing, model.profile)
    if event.kind in ("cut", "timeout"):
        # It may have ended in mid-answer, or only be slow: a listing shows which.
        return partial(reachability.check_soon, model.server)
    return None

"""Deletes the data of a person: stops the answers, then deletes one conversation at a time, then the account."""

from __future__ import annotations

import asyncio

from channels.db import database_sync_to_async as in_database

from chat.transcript.people import deletion as chats
from chat.transcript.settings import turn_settings
from toolsupport.core.errors import Busy
from toolsupport.core.history_sentences import counted
from toolsupport.registry import storage
from toolsupport.registry.people import deletion as accounts
from toolsupport.registry.people.deletion import DeletionOrder

# Seconds for which an answer may take to stop: beyond the lease of a process that is gone.
PATIENCE = 20.0
PAUSE = 0.2
STILL_RUNNING = "An answer of this person could not be stopped yet. The account is closed; delete the data again."


async def delete(order: DeletionOrder) -> None:
    """Delete the data of this person. The next call continues an interrupted deletion.

    Raises NotFound, NotAllowed, ConfigError as `close_account` does, Busy while an answer does not stop.
    """
    name = await in_database(accounts.close_account)(order)
    await in_database(chats.request_stops)(order.person)
    count = await _delete_conversations(order.person)
    await in_database(_delete_rest)(order, name, count)


async def _delete_conversations(person_id: int) -> int:
    count = 0
    while True:
        try:
            async with asyncio.timeout(PATIENCE):
                deleted = await in_database(_delete_next)(person_id)
                while deleted is False:
                    await asyncio.sleep(PAUSE)
                    deleted = await in_database(_delete_next)(person_id)
        except TimeoutError as error:
            raise Busy(STILL_RUNNING, "person") from error
        if deleted is None:
            return count
        count += 1


def _delete_next(person_id: int) -> bool | None:
    storage.overwrite_deleted()
    return chats.delete_next(person_id)


def _delete_rest(order: DeletionOrder, name: str, count: int) -> None:
    storage.overwrite_deleted()
    turn_settings.remove_discarded()
    prompts = chats.delete_prompts(order.person)
    chats.forget_name(name, f"{accounts.DELETED}{order.person}")
    where = "on the page People" if order.actor is not None else "with the command delete_person"
    accounts.erase_account(
        order, f"Asked for {where}: {counted(count, 'chat')}, {counted(prompts, 'version')} of prompts."
    )
    storage.empty_journal()

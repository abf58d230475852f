"""Stores the memory of a conversation: one text, with its last versions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from channels.db import database_sync_to_async as in_database
from django.db import transaction

from chat.models import Memory, Turn
from chat.tools.diff_preview import basis_of
from chat.tools.memory_dump import checked
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.settings.prompt_context import memory_of
from chat.transcript.turn_store import TurnStore, fenced
from toolsupport.core.errors import Conflict, ToolError

VERSIONS = 20
CHANGED = "The memory was changed meanwhile, so nothing was saved. This is what stands there now."


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """The memory as a person sees it; `by` is "" if the model wrote it, `at` None if it is empty so far.

    `basis` is the digest of the text. `earlier`: there is a previous version to restore.
    """

    text: str
    basis: str
    by: str = ""
    at: datetime | None = None
    earlier: bool = False


def show(person: Person, conversation_id: str) -> ShownMemory:
    """Return the memory of the person's own conversation. Raises NotFound."""
    conversation = own(person, conversation_id)
    last = list(Memory.objects.filter(conversation=conversation).select_related("written_by").order_by("-id")[:2])
    if not last:
        return ShownMemory("", basis_of(""))
    by = last[0].written_by.get_username() if last[0].written_by else ""
    return ShownMemory(last[0].text, basis_of(last[0].text), by, last[0].written_at, len(last) > 1)


@transaction.atomic
def write(person: Person, conversation_id: str, text: str, basis: str) -> None:
    """Replace the memory that has this basis. Raises NotFound, ValueError if it is too long, Conflict."""
    conversation = own(person, conversation_id, lock=True)
    try:
        checked(text)
    except ToolError as error:
        raise ValueError(str(error)) from error
    stands = memory_of(conversation.pk)
    if basis_of(stands) != basis:
        raise Conflict(CHANGED, stands)
    _add(conversation.pk, text, person.pk)


@transaction.atomic
def put_back(person: Person, conversation_id: str, basis: str) -> None:
    """Restore the previous version; the newest, which has this basis, is deleted.

    Raises NotFound, Conflict if there is no previous version, or a newer one.
    """
    conversation = own(person, conversation_id, lock=True)
    last = list(Memory.objects.filter(conversation=conversation).order_by("-id")[:2])
    if len(last) < 2:
        raise Conflict("There is nothing to go back to.", last[0].text if last else "")
    if basis_of(last[0].text) != basis:
        raise Conflict(CHANGED, last[0].text)
    last[0].delete()


@fenced
def write_for_model(turn: Turn, text: str, basis: str) -> str | None:
    """Do the same for a tool; return None, or the present text if it has another basis."""
    stands = memory_of(turn.conversation_id)
    if basis_of(stands) != basis:
        return stands
    _add(turn.conversation_id, text, None)
    return None


def _add(conversation: UUID, text: str, by: int | None) -> None:
    Memory.objects.create(conversation_id=conversation, text=text.strip(), written_by_id=by)
    kept = Memory.objects.filter(conversation_id=conversation).order_by("-id").values_list("pk", flat=True)
    Memory.objects.filter(conversation_id=conversation, pk__lt=min(kept[:VERSIONS])).delete()


class ConversationMemory:
    """The memory interface for tools."""

    def __init__(self, store: TurnStore, text: str) -> None:
        self.store = store
        self.text = text

    async def write(self, text: str, basis: str) -> None:
        stands = await in_database(write_for_model)(self.store, text, basis)
        self.text = text.strip() if stands is None else stands
        if stands is not None:
            raise ToolError(
                "Nothing was written: a person changed the memory meanwhile. It now reads:\n"
                f"{stands or '(nothing)'}\nCall memory_dump again with all that shall be remembered."
            )

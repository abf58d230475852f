"""Stores the memory of a conversation: one text, with its last versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from channels.db import database_sync_to_async as in_database
from django.db import transaction

from chat.models import Memory, Turn
from chat.tools.diff_preview import basis_of
from chat.tools.memory_dump import checked
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.messages.view_models import ShownOutsideSource, shown_sources
from chat.transcript.settings.prompt_context import stored_memory
from chat.transcript.turn_store import TurnStore, fenced
from toolsupport.core import outside_content
from toolsupport.core.errors import Conflict, ToolError
from toolsupport.core.outside_content import OutsideSource
from toolsupport.registry.people import audit_log

VERSIONS = 20
LONGEST_REASON = 500
CHANGED = "The memory was changed in the meantime, so nothing was saved. This is its current text."


@dataclass(frozen=True, slots=True)
class ModelNote:
    """A memory that a model writes over the one with this `basis`, and the outside content that it depends on."""

    text: str
    basis: str
    outside: tuple[OutsideSource, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """The memory as a person sees it; `by` is "" if the model wrote it, `at` None if it is empty so far.

    `basis` is the digest of the text. `earlier`: there is a previous version to restore. `outside` is the outside
    content that the text depends on, until a person marks it as checked.
    """

    text: str
    basis: str
    by: str = ""
    at: datetime | None = None
    earlier: bool = False
    outside: tuple[ShownOutsideSource, ...] = ()


def show(person: Person, conversation_id: str) -> ShownMemory:
    """Return the memory of the person's own conversation. Raises NotFound."""
    conversation = own(person, conversation_id)
    last = list(Memory.objects.filter(conversation=conversation).select_related("written_by").order_by("-id")[:2])
    if not last:
        return ShownMemory("", basis_of(""))
    by = last[0].written_by.get_username() if last[0].written_by else ""
    outside = shown_sources(outside_content.read(last[0].outside))
    return ShownMemory(last[0].text, basis_of(last[0].text), by, last[0].written_at, len(last) > 1, outside)


@transaction.atomic
def write(person: Person, conversation_id: str, text: str, basis: str) -> None:
    """Replace the memory that has this basis. Raises NotFound, ValueError if it is too long, Conflict.

    Outside content may be left in the text, so it still depends on it: `check` is a separate step.
    """
    conversation = own(person, conversation_id, lock=True)
    try:
        checked(text)
    except ToolError as error:
        raise ValueError(str(error)) from error
    stands, outside = stored_memory(conversation.pk)
    if basis_of(stands) != basis:
        raise Conflict(CHANGED, stands)
    _add(Memory(conversation=conversation, text=text, written_by_id=person.pk), outside)


@transaction.atomic
def check(person: Person, conversation_id: str, basis: str) -> None:
    """Mark the memory with this basis as checked: it is an ordinary text from then on. Raises NotFound, Conflict."""
    conversation = own(person, conversation_id, lock=True)
    last = Memory.objects.filter(conversation=conversation).order_by("-id").first()
    if last is None or basis_of(last.text) != basis:
        raise Conflict(CHANGED, last.text if last else "")
    if last.outside:
        texts = "; ".join(source.text for source in outside_content.read(last.outside))
        reason = f"Marked the memory of a chat as checked (SHA-256 {basis[:16]}). It depended on: {texts}"
        audit_log.write(person.pk or 0, "check_memory", f"conversation {conversation.pk}", reason[:LONGEST_REASON])
        last.outside = []
        last.save(update_fields=["outside"])


@transaction.atomic
def put_back(person: Person, conversation_id: str, basis: str) -> None:
    """Restore the previous version; the newest, which has this basis, is deleted.

    Raises NotFound, Conflict if there is no previous version, or a newer one.
    """
    conversation = own(person, conversation_id, lock=True)
    last = list(Memory.objects.filter(conversation=conversation).order_by("-id")[:2])
    if len(last) < 2:
        raise Conflict("There is no earlier text.", last[0].text if last else "")
    if basis_of(last[0].text) != basis:
        raise Conflict(CHANGED, last[0].text)
    last[0].delete()


@fenced
def write_for_model(turn: Turn, written: ModelNote) -> tuple[str, tuple[OutsideSource, ...]] | None:
    """Do the same for a tool; return None, or the present text with its outside content if it has another basis."""
    stands = stored_memory(turn.conversation_id)
    if basis_of(stands[0]) != written.basis:
        return stands
    _add(Memory(conversation_id=turn.conversation_id, text=written.text), written.outside)
    return None


def _add(row: Memory, outside: Iterable[OutsideSource]) -> None:
    row.text = row.text.strip()
    row.outside = outside_content.stored(outside) if row.text else []
    row.save(force_insert=True)
    kept = Memory.objects.filter(conversation=row.conversation_id).order_by("-id").values_list("pk", flat=True)
    Memory.objects.filter(conversation=row.conversation_id, pk__lt=min(kept[:VERSIONS])).delete()


class ConversationMemory:
    """The memory interface for tools. `read` returns the outside content in the request that writes it.

    `outside` is the outside content that its present text depends on.
    """

    def __init__(
        self, store: TurnStore, text: str, read: Callable[[], tuple[OutsideSource, ...]] = tuple[OutsideSource, ...]
    ) -> None:
        self.store = store
        self.text = text
        self.outside: tuple[OutsideSource, ...] = ()
        self._read = read

    async def write(self, text: str, basis: str) -> None:
        found = await in_database(write_for_model)(self.store, ModelNote(text, basis, self._read()))
        stands, self.outside = found or (None, ())
        self.text = text.strip() if stands is None else stands
        if stands is not None:
            raise ToolError(
                "Nothing was written: a person changed the memory meanwhile. It now reads:\n"
                f"{stands or '(nothing)'}\nCall memory_dump again with everything to remember."
            )

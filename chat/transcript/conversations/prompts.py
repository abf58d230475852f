"""Stores the team's named prompts, and which of them a conversation uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from channels.db import database_sync_to_async as in_database
from django.db import transaction
from django.db.models import Max
from django.utils.text import slugify

from chat.models import Prompt, Turn
from chat.tools.stores import NamedPrompt
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.settings import chat_settings, prompt_context
from chat.transcript.turn_store import TurnStore, fenced
from toolsupport.core.errors import Conflict, NotFound, ToolError

MOST, TEXT_LENGTH = 40, 20_000
DESCRIPTION_LENGTH, NAME_LENGTH = 200, 60


@dataclass(frozen=True, slots=True)
class PromptDraft:
    """A person's draft of a prompt; `basis` is the version it was made from, 0 for a new one."""

    name: str
    description: str
    text: str
    basis: int = 0


@dataclass(frozen=True, slots=True)
class PromptVersion:
    """One version of a prompt; `id` is unique within the site."""

    id: int
    name: str
    description: str
    text: str
    withdrawn: bool
    by: str
    at: datetime


def offered() -> tuple[PromptVersion, ...]:
    """Return the available prompts, by name."""
    newest = Prompt.objects.values("name").annotate(newest=Max("id")).values("newest")
    rows = Prompt.objects.filter(pk__in=newest, withdrawn=False).select_related("written_by").order_by("name")
    return tuple(map(_version, rows))


def versions(name: str) -> tuple[PromptVersion, ...]:
    """Return every version of a prompt, newest first; none for an unknown name."""
    return tuple(map(_version, Prompt.objects.filter(name=name).select_related("written_by").order_by("-id")))


@transaction.atomic
def write(person: Person, written: PromptDraft) -> str:
    """Store a prompt as the newest version of its name; return the name.

    Raises ValueError with a message for an invalid one; Conflict if a newer version was written meanwhile.
    """
    name = slugify(written.name.strip(), allow_unicode=True)[:NAME_LENGTH]
    text, description = written.text.strip(), " ".join(written.description.split())
    if not name or not text:
        raise ValueError("A prompt needs a name and a text.")
    if len(text) > TEXT_LENGTH or len(description) > DESCRIPTION_LENGTH:
        raise ValueError(
            f"The text may have {TEXT_LENGTH:,} characters at most, the description {DESCRIPTION_LENGTH:,}."
        )
    _hold()
    last = _newest(name)
    stands = last is not None and not last.withdrawn
    if not stands and len(offered()) >= MOST:
        raise ValueError(f"There are {MOST} prompts, which is the maximum. Withdraw one first.")
    _only_over(last, written.basis, stands)
    Prompt.objects.create(name=name, description=description, text=text, written_by_id=person.pk or 0)
    return name


@transaction.atomic
def withdraw(person: Person, name: str) -> None:
    """Withdraw a prompt, also from chats that use it. Raises NotFound."""
    _hold()
    last = _newest(name)
    if last is None or last.withdrawn:
        raise NotFound("This prompt does not exist.")
    last.pk, last.withdrawn, last.written_by_id = None, True, person.pk or 0
    last.save(force_insert=True)


def _hold() -> None:
    """Allow one writer at a time: a waiting writer then sees the earlier one's version."""
    list(Prompt.objects.select_for_update().order_by("id")[:1])


def _newest(name: str) -> Prompt | None:
    return Prompt.objects.filter(name=name).order_by("-id").first()


def _only_over(last: Prompt | None, basis: int, stands: bool) -> None:
    """Raise Conflict for the second of two concurrent editors."""
    if last is None or not (stands or basis) or last.pk == basis:
        return
    if not basis:
        raise Conflict(f"A prompt named {last.name} already exists. Edit that one.", last.text)
    by = last.written_by.get_username()
    raise Conflict(f"{by} changed this prompt in the meantime. Nothing was saved. See the newest version.", last.text)


def _version(row: Prompt) -> PromptVersion:
    by = row.written_by.get_username()
    return PromptVersion(row.pk, row.name, row.description, row.text, row.withdrawn, by, row.written_at)


# -- in a conversation --


@dataclass(frozen=True, slots=True)
class PromptChoice:
    """A prompt as a conversation shows it."""

    prompt: NamedPrompt
    on: bool


def choices(person: Person, conversation_id: str) -> tuple[PromptChoice, ...]:
    """Return every available prompt, and whether it is in use here. Raises NotFound."""
    prompts = prompt_context.offered()
    on = prompt_context.chosen_names(own(person, conversation_id).settings, prompts)
    return tuple(PromptChoice(prompt, prompt.name in on) for prompt in prompts)


@transaction.atomic
def choose(person: Person, conversation_id: str, names: Sequence[str]) -> None:
    """Use exactly these prompts; unavailable ones are left out. Raises NotFound."""
    _put(own(person, conversation_id, lock=True).pk, names)


@fenced
def choose_for_model(turn: Turn, names: Sequence[str]) -> None:
    """Do the same for a tool. Raises ToolError if a prompt is no longer available."""
    gone = sorted(set(names) - {prompt.name for prompt in prompt_context.offered()})
    if gone:
        raise ToolError(f"Nothing was changed: there is no prompt named {', '.join(gone)} any more.")
    _put(turn.conversation_id, names)


def _put(conversation: UUID, names: Sequence[str]) -> None:
    kept = prompt_context.chosen_names({"prompts": list(dict.fromkeys(names))}, prompt_context.offered())
    chat_settings.change(conversation, prompts=list(kept))


class ConversationPrompts:
    """The prompts interface for tools."""

    def __init__(self, store: TurnStore, offered: Sequence[NamedPrompt]) -> None:
        self.store = store
        self.offered = offered

    async def choose(self, names: Sequence[str]) -> None:
        await in_database(choose_for_model)(self.store, names)

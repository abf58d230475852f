"""Reads and changes a person's list of conversations: paged, searched, pinned, renamed, archived, deleted."""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Greatest, Lower, StrIndex, Substr
from django.db.models.lookups import GreaterThan
from django.utils import timezone

from chat.models import Conversation, Message, Turn
from chat.statuses import OPEN, TurnStatus
from chat.transcript.conversations.conversations import UNTITLED, Person, own
from chat.transcript.settings import turn_settings
from toolsupport.core.errors import Busy
from toolsupport.core.types import Role

PAGE = 40
FOUND = 50
WORDS, WORD_LENGTH = 8, 80
SNIPPET, BEFORE = 140, 40
# Status of a turn → the label of an unfinished answer in the list.
STATES: dict[str, str] = {
    TurnStatus.QUEUED: "answering",
    TurnStatus.RUNNING: "answering",
    TurnStatus.WAITING: "needs approval",
}
ENDED = "ended"
# How long an ended answer counts as recent, and how many do.
RECENT, TURNS = timedelta(days=1), 100


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A line of the list; `snippet` is the match in pieces (text, whether it matched).

    `state` describes an unfinished answer, a value of STATES or "".
    """

    id: str
    title: str
    updated_at: datetime
    archived: bool = False
    pinned: bool = False
    snippet: tuple[tuple[str, bool], ...] = ()
    state: str = ""


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """A page of the list: pinned ones first, then the latest; `following` is where the next page begins, or ""."""

    rows: tuple[ListedConversation, ...]
    following: str = ""


@dataclass(frozen=True, slots=True)
class PagePlace:
    """A place in the list: that of the last row of a page."""

    pinned: bool
    when: datetime
    which: uuid.UUID

    @classmethod
    def of(cls, text: str) -> PagePlace | None:
        """Read a page's `following`; None for any other text."""
        when, _, which = text.removeprefix("p").partition("_")
        try:
            # In UTC, as the database compares it: the first and the last hours of the calendar have none.
            moment = datetime.fromisoformat(when)
            return cls(text.startswith("p"), moment.astimezone(UTC), uuid.UUID(which)) if moment.tzinfo else None
        except (ValueError, OverflowError):
            return None

    @property
    def later(self) -> Q:
        """The rows after it."""
        older = Q(updated_at__lt=self.when) | Q(updated_at=self.when, pk__lt=self.which)
        return Q(pinned=False) | older if self.pinned else Q(pinned=False) & older


@dataclass(frozen=True, slots=True)
class RecentAnswer:
    """The newest turn of a chat, unfinished or ended lately; `state` is a value of STATES, or ENDED."""

    chat: str
    title: str
    turn: int
    state: str
    ended: str = ""


def page(person: Person, archived: bool = False, after: str = "", size: int = PAGE) -> ConversationPage:
    """Return the conversations after `after` (a page's `following`; anything else means the first page)."""
    rows = _own(person, archived)
    place = PagePlace.of(after)
    if place is not None:
        rows = rows.filter(place.later)
    found = list(rows.order_by("-pinned", "-updated_at", "-pk")[: size + 1])
    return ConversationPage(tuple(_listed(row) for row in found[:size]), _following(found, size))


def _following(found: Sequence[Conversation], size: int) -> str:
    if len(found) <= size:
        return ""
    last = found[size - 1]
    return f"{'p' if last.pinned else ''}{last.updated_at.isoformat()}_{last.pk}"


def answers(person: Person) -> tuple[RecentAnswer, ...]:
    """Return the unfinished answers in the person's conversations, and those that ended lately: one for each chat."""
    turns = Turn.objects.filter(conversation__owner_id=person.pk)
    turns = turns.filter(Q(status__in=OPEN) | Q(ended_at__gt=timezone.now() - RECENT)).select_related("conversation")
    newest: dict[uuid.UUID, Turn] = {}
    for turn in turns.order_by("-pk")[:TURNS]:
        newest.setdefault(turn.conversation_id, turn)
    return tuple(_answer(turn) for turn in newest.values())


def _answer(turn: Turn) -> RecentAnswer:
    state = STATES.get(turn.status, ENDED)
    ended = turn.status if state == ENDED else ""
    return RecentAnswer(str(turn.conversation_id), turn.conversation.title or UNTITLED, turn.pk, state, ended)


def search(person: Person, text: str, archived: bool = False) -> ConversationPage:
    """Return those with all the words in the title, or in one message; without words the list.

    Only the person's own conversations are searched, newest first, until enough are found.
    """
    words = [word[:WORD_LENGTH] for word in text.split()[:WORDS]]
    if not words:
        return page(person, archived)
    matching = Message.objects.filter(conversation=OuterRef("pk"), role__in=(Role.USER, Role.ASSISTANT))
    matching = matching.filter(_all("content", words))
    first = [_place("content", form) for form in _forms(words[0])]
    at = Greatest(*(place - BEFORE for place in first), Value(1))
    piece = matching.order_by("id").annotate(piece=Substr("content", at, SNIPPET)).values("piece")[:1]
    rows = _own(person, archived).filter(_all("title", words) | Q(Exists(matching))).annotate(piece=Subquery(piece))
    found = rows.order_by("-updated_at", "-pk")[:FOUND]
    return ConversationPage(tuple(_listed(row, marked(row.piece or "", words)) for row in found))


def marked(text: str, words: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """Split a text into pieces that match and pieces that do not."""
    if not text:
        return ()
    forms = (re.escape(form) for word in words for form in _forms(word))
    parted = re.split(f"({'|'.join(forms)})", " ".join(text.split()), flags=re.IGNORECASE)
    return tuple((piece, number % 2 == 1) for number, piece in enumerate(parted) if piece)


def one(person: Person, conversation_id: str) -> ListedConversation:
    """Return a line of the list. Raises NotFound."""
    return _listed(own(person, conversation_id))


@transaction.atomic
def rename(person: Person, conversation_id: str, title: str) -> ListedConversation:
    """Set its title; an empty one changes nothing.

    A title set here is never replaced automatically. Raises NotFound.
    """
    conversation = own(person, conversation_id)
    conversation.title = " ".join(title.split())[:200] or conversation.title
    Conversation.objects.filter(pk=conversation.pk).update(title=conversation.title)
    return _listed(conversation)


@transaction.atomic
def archive(person: Person, conversation_id: str, on: bool) -> ListedConversation:
    """Archive or restore it. Raises NotFound."""
    conversation = own(person, conversation_id)
    conversation.archived = on
    Conversation.objects.filter(pk=conversation.pk).update(archived=on)
    return _listed(conversation)


@transaction.atomic
def pin(person: Person, conversation_id: str, on: bool) -> ListedConversation:
    """Pin it to the top of the list, or unpin it. Raises NotFound."""
    conversation = own(person, conversation_id)
    conversation.pinned = on
    Conversation.objects.filter(pk=conversation.pk).update(pinned=on)
    return _listed(conversation)


def delete(person: Person, conversation_id: str) -> None:
    """Delete it with its messages and its files. Raises NotFound, Busy while an answer is written."""
    with transaction.atomic():
        conversation = own(person, conversation_id, lock=True)
        if Turn.objects.filter(conversation=conversation, status__in=OPEN).exists():
            raise Busy("An answer is still running here. Stop it first.", "conversation")
        turn_settings.discard_workspace(conversation_id)
        conversation.delete()
    turn_settings.remove_workspace(conversation_id)


def _own(person: Person, archived: bool) -> QuerySet[Conversation]:
    """A chat without a message has no title either, and is not listed: its first message makes its row."""
    open_turn = Turn.objects.filter(conversation=OuterRef("pk"), status__in=OPEN).values("status")[:1]
    said = Message.objects.filter(conversation=OuterRef("pk")).exclude(role=Role.NOTICE)
    rows = Conversation.objects.filter(~Q(title="") | Exists(said), owner_id=person.pk, archived=archived)
    return rows.annotate(turn=Subquery(open_turn))


def _all(field: str, words: Sequence[str]) -> Q:
    """Match every word in any case. SQLite's LIKE takes twenty times as long for texts of repeated letters."""
    found = Q()
    for word in words:
        places = (Q(GreaterThan(_place(field, form), 0)) for form in _forms(word))
        found &= reduce(or_, places)
    return found


def _place(field: str, form: str) -> StrIndex:
    return StrIndex(Lower(field), Lower(Value(form)))


def _forms(word: str) -> tuple[str, ...]:
    """Return how a word may be stored: é is one character, or two in names of files and texts of macOS."""
    return tuple(dict.fromkeys(unicodedata.normalize(form, word) for form in ("NFC", "NFD")))


def _listed(row: Conversation, snippet: tuple[tuple[str, bool], ...] = ()) -> ListedConversation:
    state = STATES.get(getattr(row, "turn", ""), "")
    title = row.title or UNTITLED
    return ListedConversation(str(row.pk), title, row.updated_at, row.archived, row.pinned, snippet, state)

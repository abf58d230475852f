"""Reads a person's own calls that a point of the insights counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Q

from chat.models import ToolRun
from chat.transcript.conversations.conversations import UNTITLED, Person
from chat.transcript.messages import present
from chat.transcript.messages.view_models import ShownCall

LISTED = 200
# The calls that a number of the insights counts, by their outcome.
STATES = {
    "repaired": ~Q(repairs=[]),
    "rejected": Q(fault__in=("unreadable", "cut")),
    "unknown": Q(fault="unknown"),
    "schema": Q(fault="schema"),
    "prose": Q(in_prose=True),
}


@dataclass(frozen=True, slots=True)
class CallFilter:
    """A filter for calls of some UTC days, both included; None and "" match everything. `state` is a key of STATES."""

    since: date
    until: date
    profile: int | None = None
    format: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class CountedCall:
    """One call with its place in a conversation."""

    call: ShownCall
    at: datetime
    model: str
    conversation: str
    title: str
    message: int


def calls(person: Person, wanted: CallFilter) -> Sequence[CountedCall]:
    """Return the newest calls, up to a readable number."""
    days = {"started_at__date__gte": wanted.since, "started_at__date__lte": wanted.until}
    runs = ToolRun.objects.filter(STATES.get(wanted.state, Q()), message__conversation__owner_id=person.pk, **days)
    if wanted.profile is not None:
        runs = runs.filter(turn__profile=wanted.profile)
    if wanted.format:
        # The format of an unreadable call is stored only in its turn.
        runs = runs.filter(Q(format=wanted.format) | Q(format="", turn__format=wanted.format))
    together = runs.select_related("turn__profile__server", "message__conversation").order_by("-id")
    return [_counted(run) for run in together[:LISTED]]


def _counted(run: ToolRun) -> CountedCall:
    conversation, profile = run.message.conversation, run.turn.profile
    model = f"{profile.server.name}/{profile.name}"
    title = conversation.title or UNTITLED
    return CountedCall(present.call(run), run.started_at, model, str(conversation.pk), title, run.message_id)

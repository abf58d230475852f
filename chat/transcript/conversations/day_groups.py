"""Groups a list of chats by the day of their last use, in the reader's time zone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import groupby

from django.utils.dateformat import format as formatted

from chat.transcript.conversations.listing import ListedConversation

PINNED = "Pinned"
WEEK = 7


@dataclass(frozen=True, slots=True)
class DayGroup:
    """Some rows of the list under one heading; `continued`: the heading is on the page before."""

    label: str
    rows: tuple[ListedConversation, ...]
    continued: bool = False


@dataclass(frozen=True, slots=True)
class Calendar:
    """The present moment in the reader's time zone."""

    now: datetime
    zone: tzinfo

    def label(self, when: datetime) -> str:
        """Return the heading for a moment: Today, Yesterday, Previous 7 days, or the month."""
        day, today = when.astimezone(self.zone).date(), self.now.astimezone(self.zone).date()
        age = (today - day).days
        if age <= 1:
            return "Today" if age <= 0 else "Yesterday"
        if age <= WEEK:
            return "Previous 7 days"
        return formatted(day, "F" if day.year == today.year else "F Y")


def grouped(rows: Iterable[ListedConversation], calendar: Calendar, before: str = "") -> tuple[DayGroup, ...]:
    """Return the rows in groups, in their order; `before` is the heading that the page before ended with."""
    found = groupby(rows, lambda row: PINNED if row.pinned else calendar.label(row.updated_at))
    return tuple(DayGroup(label, tuple(group), label == before) for label, group in found)

"""Quotas of requests and tokens: which one applies, whether it is used up, and when it starts again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta

PERSON, KEY, ROLE = "person", "key", "role"
KINDS = (ROLE, PERSON, KEY)
LARGEST = 2_000_000_000  # fits the column of both databases
NEARLY = 0.9  # the share from which administrators see it
FULL, CLOSE = "full", "close"


@dataclass(frozen=True, slots=True)
class Quota:
    """The most requests and tokens (in and out) of a day and of a month, in UTC; None: not set here, 0: no limit."""

    requests_day: int | None = None
    requests_month: int | None = None
    tokens_day: int | None = None
    tokens_month: int | None = None

    @property
    def limits(self) -> bool:
        """Whether anything is limited."""
        return any(getattr(self, name) for name in FIELDS)

    def over(self, weaker: Quota) -> Quota:
        """Return this quota, with the values of a weaker one where it has none."""
        own = {name: getattr(self, name) for name in FIELDS}
        return Quota(**{name: getattr(weaker, name) if value is None else value for name, value in own.items()})


FIELDS = tuple(field.name for field in fields(Quota))
LABELS: Mapping[str, str] = {
    "requests_day": "Requests per day",
    "requests_month": "Requests per month",
    "tokens_day": "Tokens per day",
    "tokens_month": "Tokens per month",
}


@dataclass(frozen=True, slots=True)
class QuotaShare:
    """How much of one limit is used."""

    name: str
    used: int
    most: int

    @property
    def left(self) -> int:
        return max(0, self.most - self.used)

    @property
    def label(self) -> str:
        return LABELS[self.name]

    @property
    def state(self) -> str:
        """FULL: the next request is refused; CLOSE: nearly; "" otherwise."""
        if self.used >= self.most:
            return FULL
        return CLOSE if self.used >= NEARLY * self.most else ""


def shares(quota: Quota, used: Mapping[str, int]) -> Iterator[QuotaShare]:
    """Return the share of each limit; `used` by the names of FIELDS."""
    for name in FIELDS:
        if most := getattr(quota, name):
            yield QuotaShare(name, used.get(name, 0), most)


def state(found: Iterable[QuotaShare]) -> str:
    """Return the worst state of these shares."""
    states = {share.state for share in found}
    return next((name for name in (FULL, CLOSE) if name in states), "")


def refused(found: Iterator[QuotaShare]) -> QuotaShare | None:
    """Return the limit that one more request exceeds, the one of the month first: it waits longer.

    `used` includes this request. Tokens are counted after an answer: the answer that passes the limit ends as usual.
    """
    over = [share for share in found if _exceeded(share)]
    return min(over, key=lambda share: not share.name.endswith("month"), default=None)


def _exceeded(share: QuotaShare) -> bool:
    return share.used > share.most if share.name.startswith("requests") else share.used >= share.most


def month_start(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def restart(share: QuotaShare, now: datetime) -> datetime:
    """Return when this limit starts again: at midnight, or on the first of the next month, in UTC."""
    if share.name.endswith("day"):
        return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return (month_start(now) + timedelta(days=32)).replace(day=1)


def sentence(kind: str, share: QuotaShare, now: datetime) -> str:
    """Return the reason of a refusal, for people and programs."""
    whose = "The quota of this key" if kind == KEY else "Your quota"
    at = restart(share, now)
    amount, unit = share.name.split("_")
    what = amount.removesuffix("s") if share.most == 1 else amount
    when = "tomorrow at 00:00 UTC" if unit == "day" else f"on {at.day} {at:%b} at 00:00 UTC"
    return f"{whose} is used up: {share.most:,} {what} per {unit}. It resets {when}."

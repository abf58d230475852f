"""Writes the sentences above the counts of calls: volume, success, the biggest cause of failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType

# Why a call could not run, by its outcome: the words of a table, and those that follow "were" and "was".
CAUSES = {
    "rejected": ("Unreadable", "unreadable", "unreadable"),
    "unknown": ("Unknown tool", "calls to unknown tools", "a call to an unknown tool"),
    "schema": ("Wrong arguments", "calls with wrong arguments", "a call with wrong arguments"),
    "prose": ("Written in prose", "written in prose", "written in prose"),
    "refused": ("Server refused tools", "refusals of servers", "a refusal"),
}
SHARES = ((1.0, "All"), (0.6, "Most"), (0.45, "About half"))


@dataclass(frozen=True, slots=True)
class CallTotals:
    """Counts of a period. `causes` are failures by outcome; `models` those of the biggest cause by model."""

    calls: int = 0
    repaired: int = 0
    causes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    models: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def failed(self) -> int:
        """Calls that could not run."""
        return sum(self.causes.values())

    @property
    def success(self) -> float:
        """Calls that could run, in percent with one decimal; never 100 while one failed."""
        return percent(self.calls - self.failed, self.calls)


def percent(part: int, whole: int) -> float:
    """Return a share in percent with one decimal: 100 and 0 only where they are exact."""
    if not whole:
        return 0.0
    return part * 1000 // whole / 10 if part * 2 > whole else -(-part * 1000 // whole) / 10


def period(since: date | None, until: date | None, today: date) -> str:
    """Name these days: "Today", "In the last 7 days", "From 1 Nov to 5 Nov"."""
    if since is None or since > today:
        return "Until now" if until is None else f"Until {_day(until)}"
    if until is None or until >= today:
        days = (today - since).days + 1
        return "Today" if days == 1 else f"In the last {days} days"
    return f"On {_day(since)}" if since == until else f"From {_day(since)} to {_day(until)}"


def headline(totals: CallTotals, when: str) -> str:
    """Give the number of calls and the share that could run."""
    made = "1 tool call was made" if totals.calls == 1 else f"{totals.calls:,} tool calls were made"
    if not totals.failed:
        worked = "it could run" if totals.calls == 1 else "all of them could run"
    else:
        worked = f"{totals.success:g}\u00a0% could run"
    repaired = f" {_calls(totals.repaired)} repaired first." if totals.repaired else ""
    return f"{when}, {made}, and {worked}.{repaired}"


def biggest_cause(totals: CallTotals) -> tuple[str, str]:
    """Name the most frequent failure, and the model with most of them; "" for no failure, or no such model."""
    if not totals.failed:
        return "", ""
    cause, times = max(totals.causes.items(), key=lambda one: one[1])
    if totals.failed == 1:
        words = f"The failure was {CAUSES[cause][2]}"
    elif totals.failed == times == 2:
        words = f"Both failures were {CAUSES[cause][1]}"
    else:
        share = next((word for limit, word in SHARES if times / totals.failed >= limit), f"{times:,}")
        words = f"{share} of the {totals.failed:,} failures were {CAUSES[cause][1]}"
    model, most = max(totals.models.items(), key=lambda one: one[1], default=("", 0))
    return words, model if most * 2 > times else ""


def change(now: float, before: float, unit: str = "") -> str:
    """Compare with the period before: "+18 % on the period before"; "" if there is nothing to compare with."""
    if not before:
        return ""
    if unit:
        return f"{before:g}{unit} in the period before"
    return f"{(now - before) / before * 100:+.0f}\u00a0% on the period before".replace("-", "−")


def trace(values: list[float]) -> str:
    """Return the path of a line through values from 0 to 100, in a box of 100 × 100; "" for fewer than three."""
    if len(values) < MOST_DOTS:
        return ""
    step = 100 / (len(values) - 1)
    return "M" + "L".join(f"{place * step:.1f} {100 - value:.1f}" for place, value in enumerate(values))


MOST_DOTS = 3  # fewer days make no line


def replies(count: int) -> str:
    """Name a number of replies."""
    return "1 reply" if count == 1 else f"{count:,} replies"


def _calls(count: int) -> str:
    return f"{count:,} call{' was' if count == 1 else 's were'}"


def _day(day: date) -> str:
    return f"{day.day} {day:%b}"

"""The sentences above the counts of calls."""

from __future__ import annotations

from datetime import date

import pytest

from toolsupport.core.insight_sentences import CallTotals, biggest_cause, change, headline, percent, period, trace

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("totals", "first", "second"),
    [
        (CallTotals(1), "Today, 1 tool call was made, and it could run.", ("", "")),
        (CallTotals(1284), "Today, 1,284 tool calls were made, and all of them could run.", ("", "")),
        (
            CallTotals(1284, 61, {"unknown": 17, "schema": 16}, {"box/a": 15, "box/b": 2}),
            "Today, 1,284 tool calls were made, and 97.4\u00a0% could run. 61 calls were repaired first.",
            ("About half of the 33 failures were calls to unknown tools", "box/a"),
        ),
        (
            CallTotals(10_000, 1, {"rejected": 1}, {"box/a": 1}),
            "Today, 10,000 tool calls were made, and 99.9\u00a0% could run. 1 call was repaired first.",
            ("The failure was unreadable", "box/a"),
        ),
        (
            CallTotals(36, 0, {"unknown": 2}, {"box/a": 1, "box/b": 1}),
            "Today, 36 tool calls were made, and 94.4\u00a0% could run.",
            ("Both failures were calls to unknown tools", ""),
        ),
        (
            CallTotals(4, 0, {"refused": 4}, {"a": 2, "b": 2}),
            "Today, 4 tool calls were made, and 0\u00a0% could run.",
            ("All of the 4 failures were refusals of servers", ""),
        ),
        (
            CallTotals(9, 0, {"refused": 2, "schema": 2, "prose": 1}),
            "Today, 9 tool calls were made, and 44.5\u00a0% could run.",
            ("2 of the 5 failures were refusals of servers", ""),
        ),
    ],
)
def test_volume_success_and_the_biggest_cause(totals: CallTotals, first: str, second: tuple[str, str]) -> None:
    assert (headline(totals, "Today"), biggest_cause(totals)) == (first, second)


@pytest.mark.parametrize(
    ("since", "until", "words"),
    [
        (None, None, "Until now"),
        (None, date(2026, 11, 5), "Until 5 Nov"),
        (TODAY, None, "Today"),
        (date(2026, 11, 16), TODAY, "In the last 7 days"),
        (date(2026, 11, 1), date(2026, 11, 5), "From 1 Nov to 5 Nov"),
        (date(2026, 11, 5), date(2026, 11, 5), "On 5 Nov"),
    ],
)
def test_a_period_has_a_name(since: date | None, until: date | None, words: str) -> None:
    assert period(since, until, TODAY) == words


def test_comparisons_shares_and_lines() -> None:
    assert (change(118, 100), change(50, 100), change(5, 0)) == (
        "+18\u00a0% on the period before",
        "−50\u00a0% on the period before",
        "",
    )
    assert change(97.4, 95.9, "\u00a0%") == "95.9\u00a0% in the period before"
    # One failure is never rounded away, and neither is one success.
    assert (percent(999_999, 1_000_000), percent(1, 1_000_000), percent(5, 5), percent(0, 0)) == (99.9, 0.1, 100, 0)
    assert (trace([50, 100]), trace([0, 50, 100])) == ("", "M0.0 100.0L50.0 50.0L100.0 0.0")

"""Counts the trials of a text format, and of calls streamed and not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolsupport.core.outcomes import TrialOutcome, counting, of_step

FORMAT_RIGHT = 2  # right calls that a text format needs
FORMAT_TRIALS = 4  # of a text format where they differ
FORMAT_EACH_WAY = 4  # where they differ by streaming
FORMAT_MOST = 9
FORMAT_SILENT = 3  # unfinished trials before a format is left


def passed(made: Sequence[TrialOutcome]) -> int:
    return sum(bool(outcome.passed) for outcome in made)


def streaming_decides(made: Sequence[TrialOutcome], each: int) -> bool:
    """Return whether at least `each` trials of both modes ran, all right in one and none in the other.

    Unfinished trials count as not right: some servers lose calls, or refuse tools, only while they stream.
    """
    streamed = [bool(outcome.passed) for outcome in made if outcome.streamed]
    whole = [bool(outcome.passed) for outcome in made if not outcome.streamed]
    return min(len(streamed), len(whole)) >= each and len({*streamed}) == len({*whole}) == 1 and streamed[0] != whole[0]


def format_flaky(outcomes: Sequence[TrialOutcome], name: str, think: Any = None) -> bool:
    """Return whether some calls in a format that works did not arrive."""
    tried = counting(of_format(outcomes, name, think))
    return passed(tried) < len(tried)


def format_settled(
    outcomes: Sequence[TrialOutcome], name: str, think: Any = None, patience: int = FORMAT_RIGHT
) -> bool:
    """Return True when a format was tried enough. `patience`: failures without a right call before the next format."""
    made = of_format(outcomes, name, think)
    tried, right = counting(made), passed(made)
    if len(made) >= FORMAT_MOST or (not tried and len(made) >= FORMAT_SILENT):
        return True
    if right == 0:
        return len(tried) >= patience
    if streaming_decides(made, 2):
        return streaming_decides(made, FORMAT_EACH_WAY)
    if right == len(tried) and not streaming_decides(made, 1):
        return right >= FORMAT_RIGHT
    return len(tried) >= FORMAT_TRIALS


def format_works(outcomes: Sequence[TrialOutcome], name: str, think: Any = None) -> bool:
    """Return whether two of two calls arrived; if they differ, half of at least four."""
    made = of_format(outcomes, name, think)
    tried, right = counting(made), passed(made)
    if right < FORMAT_RIGHT:
        return False
    return right == len(tried) or (len(tried) >= FORMAT_TRIALS and right * 2 >= len(tried))


def of_format(outcomes: Sequence[TrialOutcome], name: str, think: Any) -> list[TrialOutcome]:
    wanted = think if isinstance(think, bool) else None
    return [outcome for outcome in of_step(outcomes, "formats", name) if outcome.think is wanted]

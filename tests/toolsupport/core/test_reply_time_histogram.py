"""Times of replies are counted in steps, from which shares are read."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from toolsupport.core.reply_time_histogram import LONGEST, seconds_at, step_of

TIMES = st.lists(st.integers(1, 100_000_000), min_size=1, max_size=40)


@given(TIMES, st.floats(0.01, 1))
def test_a_share_is_near_the_exact_one(times: list[int], share: float) -> None:
    exact = next(one for place, one in enumerate(sorted(times), 1) if place >= share * len(times))
    found = seconds_at(Counter(map(step_of, times)), share)
    assert abs(found - exact / 1000) <= exact / 1000 * 0.08 + 0.001


def test_what_is_out_of_range_is_counted_at_the_ends() -> None:
    assert (step_of(0), step_of(-5), step_of(10**12)) == (0, 0, LONGEST)
    assert seconds_at({}, 0.5) == 0.0

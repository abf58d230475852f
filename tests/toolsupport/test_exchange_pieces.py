"""Adjacent deltas of one read reach the reader of a reply as one."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chat.turns.events import joined
from toolsupport import exchange
from toolsupport.core.events import Event, Finished, TextDelta, ThinkingDelta

DELTAS = st.lists(
    st.builds(TextDelta, st.text(min_size=1, max_size=300))
    | st.builds(ThinkingDelta, st.text(min_size=1, max_size=300))
)


@given(DELTAS)
def test_adjacent_deltas_are_read_as_one_of_at_most_a_slice(deltas: list[Event]) -> None:
    batch: list[Event] = [*deltas, Finished("stop")]
    found = [*exchange._pieces(batch)]
    assert joined(found) == joined(batch)
    assert all(len(event.text) <= exchange.SLICE for event in found if isinstance(event, TextDelta | ThinkingDelta))
    for first, second in pairwise(found):
        if type(first) is type(second) and isinstance(first, TextDelta) and isinstance(second, TextDelta):
            assert len(first.text) + len(second.text) > exchange.SLICE


@given(st.lists(st.integers(1, exchange.SLICE), max_size=60))
def test_a_short_text_is_not_cut(sizes: list[int]) -> None:
    words = [f"{'x' * (size - 1)} " for size in sizes]
    found = [
        event.text for event in exchange._pieces([TextDelta(word) for word in words]) if isinstance(event, TextDelta)
    ]
    assert "".join(found) == "".join(words)
    assert all(text.endswith(" ") for text in found)

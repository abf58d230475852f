"""Adjacent deltas of one read reach the reader of a reply as one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.turns.events import joined
from toolsupport import exchange
from toolsupport.core.events import Event, Finished, TextDelta, ThinkingDelta

DELTAS = st.lists(st.builds(TextDelta, st.text(max_size=300)) | st.builds(ThinkingDelta, st.text(max_size=300)))


@given(DELTAS)
def test_adjacent_deltas_are_read_as_one_of_at_most_a_slice(deltas: list[Event]) -> None:
    batch: list[Event] = [*deltas, Finished("stop")]
    found = [*exchange._pieces(batch)]
    assert joined(found) == joined(batch)
    assert all(len(event.text) <= exchange.SLICE for event in found if isinstance(event, TextDelta | ThinkingDelta))
    texts = [event.text for event in joined(batch) if isinstance(event, TextDelta | ThinkingDelta)]
    assert len(found) == 1 + sum(max(1, -(-len(text) // exchange.SLICE)) for text in texts)

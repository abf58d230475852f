"""Adjacent deltas of one read reach the reader of a reply as one."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.turns.events import TurnEvent, joined
from tests.toolsupport.core.formats.replies import OFFERED
from tests.toolsupport.core.formats.test_properties import REPLIES, in_pieces
from toolsupport import stepwise_reader
from toolsupport.core.events import Event, Finished, TextDelta, ThinkingDelta
from toolsupport.core.reply_reader import ReplyReader

DELTAS = st.lists(
    st.builds(TextDelta, st.text(min_size=1, max_size=300))
    | st.builds(ThinkingDelta, st.text(min_size=1, max_size=300))
)


@given(DELTAS)
def test_adjacent_deltas_are_read_as_one_of_at_most_a_slice(deltas: list[Event]) -> None:
    batch: list[Event] = [*deltas, Finished("stop")]
    found = [*stepwise_reader.pieces(batch)]
    assert joined(found) == joined(batch)
    assert all(
        len(event.text) <= stepwise_reader.SLICE for event in found if isinstance(event, TextDelta | ThinkingDelta)
    )
    for first, second in pairwise(found):
        if type(first) is type(second) and isinstance(first, TextDelta) and isinstance(second, TextDelta):
            assert len(first.text) + len(second.text) > stepwise_reader.SLICE


@given(st.lists(st.integers(1, stepwise_reader.SLICE), max_size=60))
def test_a_short_text_is_not_cut(sizes: list[int]) -> None:
    words = [f"{'x' * (size - 1)} " for size in sizes]
    found = [
        event.text
        for event in stepwise_reader.pieces([TextDelta(word) for word in words])
        if isinstance(event, TextDelta)
    ]
    assert "".join(found) == "".join(words)
    assert all(text.endswith(" ") for text in found)


def heard(format_: str, batches: list[list[Event]], begins_inside: bool | None) -> list[TurnEvent]:
    reader = ReplyReader(format_, OFFERED, begins_inside)

    async def read() -> list[Event]:
        found: list[Event] = []
        for batch in batches:
            found += await stepwise_reader.read(reader, batch, lambda event: event, OFFERED)
        return found

    return list(joined(asyncio.run(read())))


@pytest.mark.parametrize("format_", ["native", "", "auto", "hermes"])
@given(
    reply=st.lists(REPLIES | st.just("words of a long answer. " * 12), max_size=6).map("".join),
    cuts=st.lists(st.integers(0, 1200), max_size=12),
    inside=st.sampled_from([None, False, True]),
)
def test_short_texts_are_read_as_the_whole_reply(
    format_: str, reply: str, cuts: list[int], inside: bool | None
) -> None:
    """A text that is a whole batch is read by a shorter way."""
    pieces = [
        piece for long in in_pieces(reply, cuts) for piece in in_pieces(long, [*range(150, len(long), 150)]) if piece
    ]
    end = Finished("stop")
    batches: list[list[Event]] = [[TextDelta(piece)] for piece in pieces]
    assert all(map(stepwise_reader.short_text, batches))
    whole: list[Event] = [TextDelta(reply), end]
    assert heard(format_, [*batches, [end]], inside) == heard(format_, [whole], inside)

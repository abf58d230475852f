"""Which messages of a branch a page shows first, and where the earlier ones begin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.messages.windows import SIZE, MessageWindow, WindowBounds, bounds

IDS = list(range(10, 10 + 130))
ASKS = [number % 2 == 0 for number in range(130)]


def test_the_last_messages_are_shown_first_from_a_question_on() -> None:
    assert bounds(IDS, ASKS, MessageWindow()) == WindowBounds(80, 130, IDS[30])
    assert bounds(IDS[:129], ASKS[:129], MessageWindow()) == WindowBounds(78, 129, IDS[28])
    assert bounds(IDS[:40], ASKS[:40], MessageWindow()) == WindowBounds(0, 40, None)
    assert bounds([], [], MessageWindow()) == WindowBounds(0, 0, None)


def test_the_part_before_is_fetched_alone() -> None:
    assert bounds(IDS, ASKS, MessageWindow(IDS[30], IDS[80])) == WindowBounds(30, 80, IDS[0])
    assert bounds(IDS, ASKS, MessageWindow(IDS[0], IDS[30])) == WindowBounds(0, 30, None)


def test_a_page_that_shows_more_keeps_it() -> None:
    assert bounds(IDS, ASKS, MessageWindow(IDS[3])) == WindowBounds(3, 130, IDS[0])


def test_a_message_of_another_branch_changes_nothing() -> None:
    assert bounds(IDS, ASKS, MessageWindow(9_999, 8_888)) == bounds(IDS, ASKS, MessageWindow())


@given(st.lists(st.booleans(), max_size=200))
def test_all_messages_are_reached_once(asks: list[bool]) -> None:
    seen: list[int] = []
    ids, until = list(range(1, len(asks) + 1)), 0
    part = bounds(ids, asks, MessageWindow())
    while True:
        seen = ids[part.start : part.end] + seen
        if part.earlier is None:
            break
        assert part.end - part.start >= min(SIZE, part.end)
        until = ids[part.start]
        part = bounds(ids, asks, MessageWindow(part.earlier, until))
    assert seen == ids

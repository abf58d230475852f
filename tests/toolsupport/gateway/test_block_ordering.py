"""Blocks follow each other, in any order of a server's events."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolsupport.core.events import (
    CallDelta,
    CallReady,
    Event,
    Failed,
    Finished,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
)
from toolsupport.core.types import ToolCall
from toolsupport.gateway.block_ordering import BlockStream, Kind, Step

END = Finished("stop")


def ready(id: str, **arguments: Any) -> CallReady:
    return CallReady(ToolCall(id, "read_file", arguments))


def taken(*events: Event) -> BlockStream:
    stream = BlockStream()
    _consistent(stream.take(events))
    return stream


def _consistent(changes: list[Any]) -> None:
    """One block is open at a time, and its pieces are its text."""
    open_block, text = None, ""
    for step, block, piece in changes:
        if step is Step.BEGINS:
            assert open_block is None
            open_block, text = block, ""
        assert open_block is block
        if step is Step.GROWS:
            text += piece
        elif step is Step.ENDS:
            assert piece == text
            open_block = None
    assert open_block is None


def held(stream: BlockStream) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in stream.blocks]


def test_reasoning_text_and_calls_become_blocks_in_order() -> None:
    stream = taken(ThinkingDelta("I "), ThinkingDelta("look."), TextDelta("Let me see."), ready("1", path="a"), END)
    assert held(stream) == [("reasoning", "I look."), ("text", "Let me see."), ("call", '{"path":"a"}')]


def test_text_behind_a_call_is_a_block_of_its_own() -> None:
    stream = taken(TextDelta("One."), ready("1", path="a"), TextDelta("Two."), END)
    assert held(stream) == [("text", "One."), ("call", '{"path":"a"}'), ("text", "Two.")]


def test_arguments_are_never_empty() -> None:
    assert held(taken(ready("1"), END)) == [("call", "{}")]
    assert held(taken(CallDelta("1", "read_file", ""), ready("1"), END)) == [("call", "{}")]


def test_text_that_was_read_as_reasoning_is_sent_as_text_too() -> None:
    stream = taken(ThinkingDelta("Hello"), TextReclassified("Hello", "", 5), END)
    assert held(stream) == [("reasoning", "Hello"), ("text", "Hello")]


def test_a_whole_reply_has_its_text_where_it_was_classified_last() -> None:
    stream = BlockStream()
    void = (TextDelta("I could "), ready("1", path="a"), TextDelta("but no."))
    stream.take_whole([*void, TextReclassified("", "I could but no."), TextDelta("Hi."), ready("2", path="b"), END])
    assert held(stream) == [("reasoning", "I could but no."), ("text", "Hi."), ("call", '{"path":"b"}')]


def test_a_call_that_differs_from_its_streamed_part_fails() -> None:
    stream = BlockStream()
    stream.take([CallDelta("1", "read_file", '{"path": "b'), ready("1", path="a"), END])
    assert stream.failed and stream.finished is None


def test_nothing_follows_a_failure() -> None:
    stream = BlockStream()
    assert stream.take([Failed("cut", "It ended."), TextDelta("more")]) == []


def test_a_cut_call_is_not_whole() -> None:
    stream = taken(CallDelta("1", "read_file", '{"path": "b'), ready("2", path="c"), Finished("length"))
    assert [(block.text, block.whole) for block in stream.blocks] == [('{"path": "b', False), ('{"path":"c"}', True)]


@given(st.lists(st.tuples(st.text("xy", max_size=5), st.integers(0, 4)), min_size=1, max_size=5), st.randoms())
def test_calls_that_are_written_at_once_come_one_after_the_other(calls: list[tuple[str, int]], random: Any) -> None:
    wholes = {str(number): json.dumps({"path": path}, separators=(",", ":")) for number, (path, _) in enumerate(calls)}
    queues = []
    for number, (path, cut) in enumerate(calls):
        whole, id = wholes[str(number)], str(number)
        pieces = [CallDelta(id, "read_file", whole[:cut]), CallDelta(id, "read_file", whole[cut:])]
        queues.append([*pieces, ready(id, path=path)])
    events: list[Event] = []
    while any(queues):
        events.append(random.choice([queue for queue in queues if queue]).pop(0))
    stream = taken(*events, END)
    assert sorted(block.text for block in stream.blocks) == sorted(wholes.values())
    assert all(block.whole and block.kind is Kind.CALL for block in stream.blocks)


def test_hundreds_of_calls_at_once_are_bounded() -> None:
    deltas = [CallDelta(str(number), "read_file", "{") for number in range(400)]
    stream = taken(*deltas, *(ready(str(number)) for number in range(400)), END)
    assert len(stream.blocks) == 400

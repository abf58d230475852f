"""A reply is read to its end: text becomes calls, in order, in any pieces."""

from __future__ import annotations

import sys

import pytest

from tests.tables import every
from toolsupport.core.events import (
    CallDelta,
    CallFound,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    ReasoningSeen,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from toolsupport.core.formats import FORMATS
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.types import ToolCall, ToolSpec

TOOLS = (ToolSpec("read_file", parameters={"type": "object", "properties": {"path": {"type": "string"}}}),)
CALL = '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>'
OTHER = CALL.replace('"a"', '"b"')


def received(format: str, *events: Event) -> list[Event]:
    listener = ReplyReader(format, TOOLS)
    return [event for one in events for event in listener.feed([one])]


def calls(events: list[Event]) -> list[dict[str, object]]:
    return [event.call.arguments for event in events if isinstance(event, CallReady)]


def test_half_a_character_in_a_call_can_be_shown_while_it_comes() -> None:
    for format, reply in (
        ("hermes", CALL.replace('"a"', r'"x\ud83d y"')),
        ("pythonic", r"[read_file(path='x\ud83d y')]"),
    ):
        events = received(format, TextDelta(reply), Finished("stop"))
        assert calls(events) == [{"path": "x\ud83d y"}]
        assert "\ud83d" not in "".join(event.text for event in events if isinstance(event, CallDelta))


def test_text_becomes_a_call_before_the_end() -> None:  # F3
    events = received("hermes", TextDelta("Look: " + CALL[:20]), TextDelta(CALL[20:]), Usage(3), Finished("stop"))
    assert calls(events) == [{"path": "a"}]
    assert isinstance(events[-1], Finished)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)).strip() == "Look:"


def found(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.format, event.raw) for event in events if isinstance(event, CallFound)]


def test_where_no_format_is_spoken_text_stays_text_and_the_call_is_found() -> None:  # F5
    for format in ("", "native"):
        events = received(format, TextDelta(CALL[:9]), TextDelta(CALL[9:]), Finished("stop"))
        assert [event for event in events if isinstance(event, TextDelta)] == [TextDelta(CALL[:9]), TextDelta(CALL[9:])]
        assert found(events) == [("hermes", CALL)] and isinstance(events[-1], Finished)


def test_a_call_in_a_foreign_format_is_found() -> None:  # F5
    assert found(received("mistral", TextDelta(f"So: {CALL}"), Finished("stop"))) == [("hermes", CALL)]


def test_prose_beside_a_call_is_only_prose() -> None:  # F5
    ready = CallReady(ToolCall("1", "read_file", {}))
    rejected = CallRejected("read_file", "broken", "{")
    for asked in (ready, rejected):
        assert found(received("native", TextDelta(CALL), asked, Finished("stop"))) == []
    assert found(received("native", TextDelta(CALL), Failed("cut", "gone"))) == []
    assert found(received("hermes", TextDelta(CALL), Finished("stop"))) == []


def test_a_draft_in_the_reasoning_counts_only_alone() -> None:  # F3
    for behind in ((), (TextDelta(" \n"),)):
        alone = received("hermes", TextDelta("Well."), ThinkingDelta(f"I will {CALL}"), *behind, Finished("stop"))
        assert calls(alone) == [{"path": "a"}]
    assert calls(received("hermes", ThinkingDelta(f"I will {CALL}"), TextDelta("Well."), Finished("stop"))) == []
    both = received("hermes", ThinkingDelta(CALL), TextDelta(OTHER), Finished("stop"))
    assert calls(both) == [{"path": "b"}]
    assert [event for event in both if isinstance(event, ThinkingDelta)] == [ThinkingDelta(CALL)]


KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>"
    '{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>'
)
GLM = "<tool_call>read_file<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>"
STOPPED, LIMITED = Finished("stop"), Finished("length")
IN_THOUGHT = {
    "a call": ((ThinkingDelta(f"I look.\n{CALL}"), STOPPED), [("hermes", CALL)]),
    "pieces": ((*map(ThinkingDelta, f"I look. {KIMI}"), STOPPED), [("kimi_k2", KIMI)]),
    "in tags": ((TextDelta(f"<think>I look.\n{GLM}\n</think>\n"), STOPPED), [("glm45", GLM)]),
    "the reply begins inside": ((TextDelta(f"I look.\n{CALL}\n</think>\n"), STOPPED), [("hermes", CALL)]),
    "two calls": ((ThinkingDelta(f"So.\n{CALL}\n{OTHER}"), STOPPED), [("hermes", CALL), ("hermes", OTHER)]),
    "one that is over, and one": ((ThinkingDelta(f"{CALL}\nOr not.\n{OTHER}"), STOPPED), [("hermes", OTHER)]),
    "words behind it": ((ThinkingDelta(f"I look.\n{CALL} No, wait."), STOPPED), []),
    "in backquotes": ((ThinkingDelta(f"The form is `{CALL}`"), STOPPED), []),
    "an answer": ((ThinkingDelta(f"I look.\n{CALL}"), TextDelta("Well."), STOPPED), []),
    "a call of the server": (
        (ThinkingDelta(CALL), CallReady(ToolCall("1", "read_file", {"path": "a"}), "{}"), Finished("tool_calls")),
        [],
    ),
    "a limit": ((ThinkingDelta(CALL), LIMITED), []),
    "a failure": ((ThinkingDelta(CALL), Failed("cut", "gone")), []),
}


@every("what, events, calls", [(what, *row) for what, row in IN_THOUGHT.items()])
def test_a_call_at_the_end_of_the_reasoning_is_found_behind_a_server_that_reads_calls(
    what: str, events: tuple[Event, ...], calls: list[tuple[str, str]]
) -> None:
    assert found(received("native", *events)) == calls, what


def test_a_reply_that_breaks_off_loses_no_text() -> None:
    events = received("hermes", TextDelta("Then " + CALL[:30]), Failed("cut", "gone"))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Then " + CALL[:30]
    assert any(isinstance(event, CallRejected) for event in events)
    assert isinstance(events[-1], Failed)


def test_no_nul_comes_through() -> None:
    """PostgreSQL keeps none: the texts of everybody are written together."""
    call = '<tool_call>{"name": "read_file", "arguments": {"path": "a\\u0000b"}}</tool_call>'
    events = received("hermes", ThinkingDelta("t\0"), TextDelta("x\0y " + call), Finished("stop"))
    shown = [event for event in events if not isinstance(event, CallReady)]
    assert "\\x00" not in repr(shown)
    # The arguments are not changed: what checks calls refuses them.
    assert calls(events) == [{"path": "a\0b"}]


def test_a_mention_in_its_own_format_is_found() -> None:  # F5
    events = received("hermes", TextDelta(f"You would write `{CALL}` for that."), Finished("stop"))
    assert calls(events) == [] and found(events) == [("hermes", CALL)]
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == f"You would write `{CALL}` for that."


def test_a_mention_beside_a_call_is_only_text() -> None:  # F5
    events = received("hermes", TextDelta(f"Not `{OTHER}`, but\n{CALL}"), Finished("stop"))
    assert (calls(events), found(events)) == ([{"path": "a"}], [])


@pytest.mark.parametrize(("behind", "counts"), [("No.", False), ("", True)])
def test_a_call_that_began_in_reasoning_is_a_draft_though_its_wire_ends_it_later(behind: str, counts: bool) -> None:
    for known, opening in ((None, ""), (True, ""), (None, "<think>")):
        listener = ReplyReader("native", TOOLS, known)
        parts: list[Event] = [
            TextDelta(f"{opening}hm"),
            PIECE,
            TextDelta(f" or</think>{behind}"),
            READY,
            Finished("tool_calls"),
        ]
        events = [event for one in parts for event in listener.feed([one])]
        assert bool(calls(events)) is counts


HI, PIECE, READY = TextDelta("Hi"), CallDelta("1", "read_file", "{"), CallReady(ToolCall("1", "read_file", {}))
THOUGHT, MARKED, CLOSED = ThinkingDelta("hm"), TextDelta("<think>hm</think>"), TextDelta("hm</think>Hi")
STOP = Finished("stop")


@every(
    ("known", "before", "outside"),
    [
        (None, (), True),
        (None, (TextDelta("\n \n"),), True),
        (None, (HI,), False),
        (None, (THOUGHT,), True),
        (None, (THOUGHT, HI), True),
        (None, (MARKED,), True),
        (None, (MARKED, HI), True),
        (None, (CLOSED,), True),
        (False, (HI,), True),
        (True, (), False),
        (True, (THOUGHT, HI), True),
        (True, (CLOSED,), True),
    ],
)
def test_pieces_of_a_call_are_live_where_nothing_suggests_reasoning(
    known: bool | None, before: tuple[Event, ...], outside: bool
) -> None:
    listener = ReplyReader("native", TOOLS, known)
    events = [event for one in (*before, PIECE) for event in listener.feed([one])]
    assert [event.outside for event in events if isinstance(event, CallDelta)] == [outside]


def test_no_piece_of_a_call_in_open_reasoning_is_told() -> None:
    for known, text in ((None, "<think>hm"), (True, "hm")):
        listener = ReplyReader("native", TOOLS, known)
        listener.feed([TextDelta(text)])
        assert not [event for event in listener.feed([PIECE]) if isinstance(event, CallDelta)]


@every(
    ("known", "reply", "seen"),
    [
        (None, (HI, STOP), [False]),
        (None, (THOUGHT, HI, STOP), [False]),
        (None, (CLOSED, STOP), [True]),
        # What may have been cut inside reasoning, or ends in a call, shows nothing.
        (None, (HI, Finished("length")), []),
        (None, (HI, Failed("cut", "gone")), []),
        (None, (HI, READY, STOP), []),
        (None, (READY, STOP), []),
        (None, (STOP,), []),
        (False, (HI, STOP), []),
        (False, (CLOSED, STOP), [True]),
        (True, (HI, STOP), [False]),
        (True, (CLOSED, STOP), []),
    ],
)
def test_a_reply_shows_once_how_replies_begin(known: bool | None, reply: tuple[Event, ...], seen: list[bool]) -> None:
    listener = ReplyReader("native", TOOLS, known)
    events = [event for one in reply for event in listener.feed([one])]
    assert [event.begins_inside for event in events if isinstance(event, ReasoningSeen)] == seen


def test_native_drafts_without_a_text_of_their_own_are_several() -> None:
    """Some wires give no raw text of a call."""
    drafts = [CallReady(ToolCall(f"c{number}", "read_file", {"path": str(number)}), "") for number in (1, 2)]
    for pieces in ([], [CallDelta(f"c{number}", "read_file", "{") for number in (1, 2)]):
        reader = ReplyReader("native", TOOLS, True)
        parts: list[Event] = [TextDelta("I look at both."), *pieces, *drafts, Finished("tool_calls")]
        told = [event for one in parts for event in reader.feed([one])]
        assert calls(told) == [{"path": "1"}, {"path": "2"}]


# S1: a step is what happens between two chances for other answers to continue.
@pytest.mark.parametrize("format", ["", "native", "auto", *FORMATS])
@pytest.mark.parametrize("repeated", ["\n", " \r\n", '<tool_call>{"', '[{"name":', "Action: "])
def test_the_end_of_a_reply_is_read_in_steps(format: str, repeated: str) -> None:
    calls_made, longest = 0, 0

    def count(_frame: object, happened: str, _argument: object) -> None:
        nonlocal calls_made
        calls_made += happened == "call"

    reader = ReplyReader(format, TOOLS)
    text = repeated * (8000 // len(repeated))
    for at in range(0, len(text), 200):
        reader.feed([TextDelta(text[at : at + 200])])
    end = reader.read([Finished("stop")])
    sys.setprofile(count)
    try:
        for _ in end:
            longest, calls_made = max(longest, calls_made), 0
    finally:
        sys.setprofile(None)
    assert longest < 25_000

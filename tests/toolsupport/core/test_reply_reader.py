"""A reply is heard to its end: text becomes calls, in order, in any pieces."""

from __future__ import annotations

from toolsupport.core.events import (
    CallDelta,
    CallFound,
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from toolsupport.core.reply_reader import Listener
from toolsupport.core.types import ToolCall, ToolSpec

TOOLS = (ToolSpec("read_file", parameters={"type": "object", "properties": {"path": {"type": "string"}}}),)
CALL = '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>'
OTHER = CALL.replace('"a"', '"b"')


def heard(format: str, *events: Event) -> list[Event]:
    listener = Listener(format, TOOLS)
    return [event for one in events for event in listener.hear([one])]


def calls(events: list[Event]) -> list[dict[str, object]]:
    return [event.call.arguments for event in events if isinstance(event, CallReady)]


def test_half_a_character_in_a_call_can_be_shown_while_it_comes() -> None:
    for format, reply in (
        ("hermes", CALL.replace('"a"', r'"x\ud83d y"')),
        ("pythonic", r"[read_file(path='x\ud83d y')]"),
    ):
        events = heard(format, TextDelta(reply), Finished("stop"))
        assert calls(events) == [{"path": "x\ud83d y"}]
        assert "\ud83d" not in "".join(event.text for event in events if isinstance(event, CallDelta))


def test_text_becomes_a_call_before_the_end() -> None:  # F3
    events = heard("hermes", TextDelta("Look: " + CALL[:20]), TextDelta(CALL[20:]), Usage(3), Finished("stop"))
    assert calls(events) == [{"path": "a"}]
    assert isinstance(events[-1], Finished)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)).strip() == "Look:"


def found(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.format, event.raw) for event in events if isinstance(event, CallFound)]


def test_where_no_format_is_spoken_text_stays_text_and_the_call_is_found() -> None:  # F5
    for format in ("", "native"):
        events = heard(format, TextDelta(CALL[:9]), TextDelta(CALL[9:]), Finished("stop"))
        assert [event for event in events if not isinstance(event, CallFound)] == [
            TextDelta(CALL[:9]),
            TextDelta(CALL[9:]),
            Finished("stop"),
        ]
        assert found(events) == [("hermes", CALL)] and isinstance(events[-1], Finished)


def test_a_call_in_a_foreign_format_is_found() -> None:  # F5
    assert found(heard("mistral", TextDelta(f"So: {CALL}"), Finished("stop"))) == [("hermes", CALL)]


def test_prose_beside_a_call_is_only_prose() -> None:  # F5
    ready = CallReady(ToolCall("1", "read_file", {}))
    rejected = CallRejected("read_file", "broken", "{")
    for asked in (ready, rejected):
        assert found(heard("native", TextDelta(CALL), asked, Finished("stop"))) == []
    assert found(heard("native", TextDelta(CALL), Failed("cut", "gone"))) == []
    assert found(heard("hermes", TextDelta(CALL), Finished("stop"))) == []


def test_a_draft_in_the_reasoning_counts_only_alone() -> None:  # F3
    for behind in ((), (TextDelta(" \n"),)):
        alone = heard("hermes", TextDelta("Well."), ThinkingDelta(f"I will {CALL}"), *behind, Finished("stop"))
        assert calls(alone) == [{"path": "a"}]
    assert calls(heard("hermes", ThinkingDelta(f"I will {CALL}"), TextDelta("Well."), Finished("stop"))) == []
    both = heard("hermes", ThinkingDelta(CALL), TextDelta(OTHER), Finished("stop"))
    assert calls(both) == [{"path": "b"}]
    assert [event for event in both if isinstance(event, ThinkingDelta)] == [ThinkingDelta(CALL)]


def test_a_reply_that_breaks_off_loses_no_text() -> None:
    events = heard("hermes", TextDelta("Then " + CALL[:30]), Failed("cut", "gone"))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Then " + CALL[:30]
    assert any(isinstance(event, CallRejected) for event in events)
    assert isinstance(events[-1], Failed)


def test_no_nul_comes_through() -> None:
    """PostgreSQL keeps none: the texts of everybody are written together."""
    call = '<tool_call>{"name": "read_file", "arguments": {"path": "a\\u0000b"}}</tool_call>'
    events = heard("hermes", ThinkingDelta("t\0"), TextDelta("x\0y " + call), Finished("stop"))
    shown = [event for event in events if not isinstance(event, CallReady)]
    assert "\\x00" not in repr(shown)
    # The arguments are not changed: what checks calls refuses them.
    assert calls(events) == [{"path": "a\0b"}]


def test_a_mention_in_its_own_format_is_found() -> None:  # F5
    events = heard("hermes", TextDelta(f"You would write `{CALL}` for that."), Finished("stop"))
    assert calls(events) == [] and found(events) == [("hermes", CALL)]
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == f"You would write `{CALL}` for that."


def test_a_mention_beside_a_call_is_only_text() -> None:  # F5
    events = heard("hermes", TextDelta(f"Not `{OTHER}`, but\n{CALL}"), Finished("stop"))
    assert (calls(events), found(events)) == ([{"path": "a"}], [])

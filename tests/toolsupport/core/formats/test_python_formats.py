"""Properties of the formats in Python beyond the tables: their output, and hostile input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from tests.toolsupport.core.formats.cases.case import TOOLS
from tests.toolsupport.core.formats.replies import joined
from tests.toolsupport.core.formats.test_cases import cut, ready, text_of
from toolsupport.core.events import CallDelta, Event
from toolsupport.core.formats import FORMATS, parser
from toolsupport.core.formats.python_writing import signature
from toolsupport.core.types import ToolCall, ToolSpec

VARIANTS = ("pythonic", "llama4_pythonic", "lfm2_pythonic", "olmo3_pythonic")
each_variant = pytest.mark.parametrize("name", VARIANTS)
HUGE = 1_000_000

# Texts that would be slow to read again from an earlier place, and that hold no whole call.
TRAPS = {
    "brackets": "[" * 5_000,
    "openers": "[weather(" * 3_000,
    "openers with a text": '[weather(city="' * 3_000,
    "openers on lines": "weather(city=\n" * 3_000,
    "markers": "<|python_start|>" * 3_000,
    "half markers": "<|python_st" * 3_000,
    "nested values": "[note(a=" + "[" * 3_000,
    "quotes": "[note(a='" + "'" * 3_000,
    "quotes and commas": "[note(a='" + "', " * 5_000,
    "halves of letters": '[note(a="' + "\\ud83d" * 3_000,
    "line breaks": "\n" * 5_000,
    "fences": "```\n" * 3_000,
}


def events_of(name: str, reply: str, size: int) -> list[Event]:
    reading = parser(name, TOOLS)
    found = [event for piece in cut(reply, size) for event in reading.feed(piece)]
    return joined(found + reading.flush())


@every("trap", TRAPS)
def test_a_trap_is_only_text(trap: str) -> None:  # F3
    for size in (len(TRAPS[trap]), 4096):
        events = events_of("pythonic", TRAPS[trap], size)
        assert ready(events) == []
        assert text_of(events) == TRAPS[trap]


def test_a_huge_answer_comes_at_once() -> None:
    reading = parser("pythonic", TOOLS)
    words = "words and so on. " * (HUGE // 17)
    assert text_of(reading.feed(words)).rstrip() == words.rstrip()


def test_a_huge_text_is_read_and_shown_while_it_comes() -> None:
    reading = parser("pythonic", TOOLS)
    reading.feed('[write_file(path="a", content="')
    shown = [event.text for event in reading.feed("x" * HUGE) if isinstance(event, CallDelta)]
    assert "".join(shown) == "x" * HUGE
    (call,) = ready(reading.feed('")]') + reading.flush())
    assert call.call.arguments["content"] == "x" * HUGE


def test_code_is_shown_while_it_comes() -> None:
    reading = parser("code_mode", TOOLS)
    reading.feed("```python\n")
    assert [event.text for event in reading.feed("x = 1\n") if isinstance(event, CallDelta)] == ['{"code":"', "x = 1"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
CALLS = st.lists(st.dictionaries(st.text(max_size=6), VALUES, max_size=4), min_size=1, max_size=3)


@each_variant
@given(arguments=CALLS)
def test_what_is_written_is_read_again(name: str, arguments: list[dict[str, object]]) -> None:
    written = FORMATS[name].write_calls([ToolCall(str(n), "note", one) for n, one in enumerate(arguments)])
    found = ready(events_of(name, written, 7))
    assert [(one.call.arguments, one.call.repairs) for one in found] == [(one, ()) for one in arguments]


@every("code", ["print(1)", "x = '```'\n", '"""\n```\n"""', "# ```\n", "", "`", "a\n\n", "s = 'it'"])
def test_code_is_read_as_it_was_written(code: str) -> None:
    written = FORMATS["code_mode"].write_calls([ToolCall("1", "python_execution", {"code": code})])
    found = [one.call.arguments["code"] for one in ready(events_of("code_mode", written, 3))]
    assert found == ([code] if code else [])


@pytest.mark.parametrize("name", [*VARIANTS, "code_mode"])
def test_the_tools_are_told(name: str) -> None:
    told = FORMATS[name].instructions(TOOLS)
    callable_ones = {tool.name for tool in TOOLS if name != "code_mode" or tool.name.isidentifier()}
    unavailable = {"python_execution", *({"bash"} if name == "code_mode" else ())}  # programs run no other code
    assert callable_ones - unavailable <= {tool.name for tool in TOOLS if tool.name in told}


def test_the_definitions_that_parameters_refer_to_are_shown() -> None:
    point = {"type": "object", "properties": {"x": {"type": "integer"}}}
    parameters = {"type": "object", "properties": {"at": {"$ref": "#/$defs/Point"}}, "$defs": {"Point": point}}
    tool = ToolSpec("move", "Moves.", parameters | {"title": "Move", "required": ["at"]})
    assert signature(tool).splitlines() == [
        "- move(at): Moves.",
        '    at: {"$ref": "#/$defs/Point"}',
        '    (for all of them) {"$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}}}}',
    ]

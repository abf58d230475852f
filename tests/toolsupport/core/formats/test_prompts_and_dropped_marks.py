"""Values with doubled closers are whole, Python prompts are text, and GigaChat calls need no second mark."""

from __future__ import annotations

import pytest

from tests.tables import every
from tests.toolsupport.core.formats.cases.case import TOOLS
from toolsupport.core.events import CallReady, CallRejected, Event, TextDelta
from toolsupport.core.formats import FORMATS, parser
from toolsupport.core.types import ToolCall


def _events(name: str, reply: str, size: int) -> list[Event]:
    reader = parser(name, TOOLS)
    events = [event for at in range(0, len(reply), size) for event in reader.feed(reply[at : at + size])]
    return [*events, *reader.flush()]


@every("size", [1, 5, 1000])
@every("reply", ["In Python:\n>>> y\n", "Try\n>>> y\n2025\n", ">>> x = f\n>>> x\n>>> y\n[1]"])
def test_a_python_prompt_is_text(reply: str, size: int) -> None:
    events = _events("functionary_v32", reply, size)
    assert not any(isinstance(event, CallReady | CallRejected) for event in events)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == reply


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_call_of_gigachat_without_the_mark_is_read(size: int) -> None:
    reply = 'function call{"name": "write_file", "arguments": {"path": "a", "content": "b"}}'
    calls = [event.call for event in _events("gigachat3", reply, size) if isinstance(event, CallReady)]
    assert [(call.name, call.arguments) for call in calls] == [("write_file", {"path": "a", "content": "b"})]


@every("name", ["qwen3_coder_xml", "seed_oss", "minimax_m2", "invoke", "dots"])
@every("text", ["</parameter> </parameter> <b>", "a </parameter></parameter>\n<b>x</b>"])
def test_a_value_does_not_end_at_a_doubled_closer_that_text_follows(name: str, text: str) -> None:
    reply = FORMATS[name].write_calls([ToolCall("1", "write_file", {"path": "a", "content": text})])
    calls = [event.call for event in _events(name, reply, 7) if isinstance(event, CallReady)]
    assert [call.arguments["content"] for call in calls] == [text]

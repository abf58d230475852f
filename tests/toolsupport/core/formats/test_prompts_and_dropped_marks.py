"""Calls opened twice are one, values with doubled closers are whole, Python prompts are text.

GigaChat calls need no second mark.
"""

from __future__ import annotations

import re

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


TWO = [ToolCall("a1b2c3d4e", "search", {"query": "x"}), ToolCall("a1b2c3d4f", "now", {})]
MARK = re.compile(r"<[^<>]+>|\[[A-Z_]+\]")
OPENED = (
    "hermes", "mistral_json", "mistral_args", "llama4_pythonic", "lfm2_pythonic", "olmo3_pythonic", "qwen3_coder_xml",
    "glm45", "deepseek_v3", "deepseek_v31", "deepseek_dsml", "minimax_m2", "step3", "kimi_k2", "seed_oss", "gemma4",
    "functiongemma", "functionary_v31", "granite", "command_r7b", "nemotron_v2", "jamba", "internlm2", "apertus",
)  # fmt: skip


IN_BLOCKS = ("deepseek_v3", "deepseek_v31", "kimi_k2")  # a second mark opens each call


@every("name", OPENED)
@every("between", ["", "\n"])
@every("size", [1, 1000])
def test_a_call_that_is_opened_twice_is_one(name: str, between: str, size: int) -> None:
    written = FORMATS[name].write_calls(TWO)
    marks = list(MARK.finditer(written))
    openings = marks[: 2 if name in IN_BLOCKS else 1]
    openings += [one for one in marks if re.search("<function=|[<｜]invoke name=", one.group())]
    for mark in openings:
        events = _events(name, written[: mark.start()] + mark.group() + between + written[mark.start() :], size)
        calls = [event.call for event in events if isinstance(event, CallReady)]
        assert [(call.name, call.arguments) for call in calls] == [(call.name, call.arguments) for call in TWO]
        assert not "".join(event.text for event in events if isinstance(event, TextDelta)).strip()

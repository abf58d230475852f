"""Results that stand in a user's message."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.simulator.reading.text_results import results
from toolsupport.simulator.types import HistoryMessage

ONE = json.dumps({"name": "read_file", "content": "hello"})
TWO = json.dumps({"name": "now", "content": {"hour": 3}})


@every(
    ("text", "found"),
    [
        ("<tool_response>\nhello\n</tool_response>", [("", "hello")]),
        (f"<tool_response>\n{ONE}\n</tool_response>\n<tool_response>{TWO}</tool_response>", None),
        ('<tool_response name="read_file">hello</tool_response>', [("read_file", "hello")]),
        ('<tool_response>{"version": 1}</tool_response>', [("", '{"version": 1}')]),
        (f"[TOOL_RESULTS][{ONE}, {TWO}][/TOOL_RESULTS]", None),
        (f"[TOOL_RESULTS] {ONE}[/TOOL_RESULTS][TOOL_RESULTS]{TWO}", None),
        ('[TOOL_RESULTS]{"content": "hello", "call_id": "abc123def"}[/TOOL_RESULTS]', [("", "hello")]),
        ("```tool_output\nhello\n```", [("", "hello")]),
        ("```tool_output\nhello\n```\n\n```tool_output\nbye\n```", [("", "hello"), ("", "bye")]),
        (ONE, [("read_file", "hello")]),
        (f"{ONE}\n{TWO}", None),
        (f"[{ONE}, {TWO}]", None),
        ("Result of read_file:\nhello", [("read_file", "hello")]),
        ('Result of `read_file`:\n```\nhello\n```\n\nResult of `now`:\n{"hour": 3}', None),
        ('Result of read_file:\nhello\n(end of the result)\nResult of now:\n{"hour": 3}\n(end of the result)', None),
        ("Result of the call to read_file (call_1): hello", [("read_file", "hello")]),
        ("<|tool_response_start|>hello<|tool_response_end|>", [("", "hello")]),
        ("<function_results>\nhello\n</function_results>", [("", "hello")]),
        ("<function_results><result><name>f</name>x</result></function_results>", [("", "<name>f</name>x")]),
        ("Here is what came back:\n<tool_result>hello</tool_result>\nGo on.", [("", "hello")]),
    ],
)
def test_reads_results_however_they_are_carried(text: str, found: list[tuple[str, str]] | None) -> None:  # M8
    expected = found or [("read_file", "hello"), ("now", '{"hour": 3}')]
    assert results(text) == tuple(HistoryMessage("tool", content, name=name) for name, content in expected)


@every(
    "text",
    [
        "",
        "hello",
        "<tool_response> is a tag",
        '{"name": "Ann"}',
        "```python\nprint(1)\n```",
        "[1, 2]",
        "{",
        ONE + " and",
    ],
)
def test_what_a_person_says_carries_none(text: str) -> None:
    assert results(text) == ()


@given(st.text(alphabet=st.sampled_from('{}[]"`<>/|:\n _tool_responseTOOL_RESULTSResult of x'), max_size=200))
def test_no_text_is_too_much(text: str) -> None:
    assert all(said.role == "tool" for said in results(text))


def test_no_secret_is_changed_on_the_way() -> None:  # D6
    secret = 'q-9931 \\n "é" <b>&amp;'
    for text in (f"<tool_response>{secret}</tool_response>", json.dumps({"name": "f", "content": secret})):
        assert results(text)[0].content == secret

"""Properties of every format and every text: pieces never matter, nothing is lost, shown text only grows."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.examples import at_least
from tests.tables import every
from tests.toolsupport.core.formats.cases import seldom
from tests.toolsupport.core.formats.replies import OFFERED, calls, joined, read, text
from toolsupport.core.events import (
    CallDelta,
    CallFound,
    CallReady,
    CallRejected,
    Event,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
)
from toolsupport.core.formats import FORMATS, parser
from toolsupport.core.types import ChatMessage, Role, ToolCall

# Scraps of every format, of JSON and of plain text: chance makes calls, half calls and nonsense of them.
SCRAPS = (
    "<tool_call>", "</tool_call>", "<toolcall>", "<tool_", "[TOOL_CALLS]", "[/TOOL_CALLS]", "[ARGS]", "[CALL_ID]",
    "<|python_tag|>", "<function=", "<function=get_weather>", "<function=now>", "</function>", "<parameter=city>",
    "<parameter=days>", "</parameter>", "</", "<", "<think>", "</think>", "[THINK]", "[/THINK]", "```", "```json\n",
    '{"name": "get_weather", "arguments": {', '"city": "Bonn"', "'city': 'Bonn'", '"days": "3"', '"tags": ["a",', "]",
    '{"name":"now"}', '{"name":"now","parameters":{}}', "get_weather", "now", "(", ")", "{", "}", "}}", "[", '"', "'",
    "\\", '\\"', "\\u00e9", "\\ud83d", "\\ude00", ",", ":", ";", "; ", " ", "\n", "\r\n", "true", "None", "1.50", "é😀",
    "\x00", "\ud800", "words", ".call(city='x')", '"name":', '"arguments":', '"id": "abcdefghi"', "]}",
)  # fmt: skip
REPLIES = st.lists(st.sampled_from(SCRAPS), max_size=14).map("".join)
# The less common formats are drawn by chance here, and tried one by one in the nightly run.
SELDOM = sorted({name for case in seldom.CASES for name in case.formats} - {"auto"})
NAMES = sorted(set(FORMATS) - set(SELDOM))
UNTYPED = (
    "qwen3_coder_xml",
    "seed_oss",
    "glm45",
    "minimax_m2",
    "minimax_m3",
    "invoke",
    "dots",
    "step3",
    "muse_glimmer",
    "minicpm5",
    "longcat",
    "hy_v3",
    "k2_horizon",
    "solar_open2",
    "tool_tags",
)  # without a schema a value is the text it was written as
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text() | st.sampled_from(SCRAPS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=8), inner, max_size=3),
    max_leaves=6,
)


def in_pieces(reply: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(reply), *(cut % (len(reply) + 1) for cut in cuts)})
    return [reply[start:end] for start, end in itertools.pairwise(places)]


def scraps_of(name: str) -> list[str]:
    """What calls of this format are made of."""
    asked = [ToolCall("a", "get_weather", {"city": "Bonn", "days": 3, "tags": ["x"]}), ToolCall("b", "now", {})]
    return [scrap for scrap in re.split(r"(<[^<>\n]*>|[\n{}:]|```)", FORMATS[name].write_calls(asked)) if scrap]


def replies_in(name: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from((*scraps_of(name) * 3, *SCRAPS)), max_size=14).map("".join)


@st.composite
def seldom_replies(draw: st.DrawFn) -> tuple[str, str]:
    name = draw(st.sampled_from(SELDOM))
    return name, draw(replies_in(name))


@given(written=seldom_replies(), cuts=st.lists(st.integers(0, 400), max_size=12))
def test_what_holds_for_every_format_holds_for_the_others(written: tuple[str, str], cuts: list[int]) -> None:
    assert_it_holds(*written, cuts)


@pytest.mark.nightly
@pytest.mark.parametrize("name", SELDOM)
@given(data=st.data(), cuts=st.lists(st.integers(0, 400), max_size=12))
def test_the_others_one_by_one(name: str, data: st.DataObject, cuts: list[int]) -> None:
    assert_it_holds(name, data.draw(replies_in(name)), cuts)


def assert_it_holds(name: str, reply: str, cuts: list[int]) -> None:
    whole = read(name, [reply])
    assert read(name, list(reply)) == whole
    assert read(name, in_pieces(reply, cuts)) == whole
    if "think" not in reply.lower() and name not in ("harmony", "functionary_v32"):
        kept = "".join(piece for event in whole for piece in shown(event))
        assert "".join(kept.split()) == "".join(reply.split())


@pytest.mark.parametrize("name", NAMES)
@given(reply=REPLIES, cuts=st.lists(st.integers(0, 400), max_size=12))
def test_pieces_never_matter(name: str, reply: str, cuts: list[int]) -> None:
    whole = read(name, [reply])
    assert read(name, list(reply)) == whole
    assert read(name, in_pieces(reply, cuts)) == whole


@pytest.mark.parametrize("name", NAMES)
@given(reply=REPLIES)
def test_nothing_is_lost(name: str, reply: str) -> None:
    """Text and what calls were read from make up the reply; white space alone is no text beside calls."""
    reply = re.sub(r"(?i)(?<=[<[])/?think", "", reply)
    events = read(name, [reply])
    kept = "".join(piece for event in events for piece in shown(event))
    assert "".join(kept.split()) == "".join(reply.split())
    assert calls(events) or kept == reply


def shown(event: Event) -> list[str]:
    if isinstance(event, TextDelta | ThinkingDelta):
        return [event.text]
    return [event.raw] if isinstance(event, CallReady) else []


@pytest.mark.parametrize("name", NAMES)
@example(reply='{"name":"now"}</think>')  # the call was reasoning
@example(reply='[get_weather(city="Bonn", days=)] is it')  # a mention that cannot be read
@example(reply='[get_weather(city="Bonn", days=)] is it\n\n[now()]')  # the same in front of a call
@example(
    reply='</think>{"name": "get_weather", "arguments": {get_weather"city": "Bonn"</function>; '
)  # behind a lone mark
@given(reply=REPLIES)
def test_what_is_shown_grows_into_the_call(name: str, reply: str) -> None:
    """What was shown of a call comes to the call, or to nothing: where it was reasoning, or text after all."""
    deltas: dict[str, str] = {}
    names: dict[str, str] = {}
    events = read(name, list(reply))
    for event in events:
        if isinstance(event, CallDelta):
            deltas[event.id] = deltas.get(event.id, "") + event.text
            names[event.id] = event.name
        if isinstance(event, CallReady) and event.call.id in deltas:
            whole = json.dumps(event.call.arguments, ensure_ascii=False, separators=(",", ":"))
            assert deltas.pop(event.call.id) == whole
        if isinstance(event, CallFound):
            deltas.pop(event.call.id, None)
        if isinstance(event, CallRejected):
            deltas.pop(event.id, None)
        if isinstance(event, TextReclassified):
            deltas.clear()
    # Nothing is reported for a mention that cannot be read: it stays in the text, beside other calls too.
    assert all(names[id] in text(events) for id in deltas)


ASKED = st.lists(st.tuples(st.sampled_from(OFFERED), st.dictionaries(st.text("abcd", min_size=1), VALUES)), min_size=1)


# Each draw of nested values is costly, and the formats share one writer of values: few for each of them, many in all.
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("auto", "code_mode")])
@settings(max_examples=at_least(8))
@given(asked=ASKED)
def test_what_is_written_is_read_again(name: str, asked: list) -> None:
    assert_it_comes_back(name, asked)


@given(name=st.sampled_from(SELDOM), asked=ASKED)
def test_what_is_written_in_the_others_is_read_again(name: str, asked: list) -> None:
    assert_it_comes_back(name, asked)


@pytest.mark.nightly
@pytest.mark.parametrize("name", SELDOM)
@given(asked=ASKED)
def test_what_is_written_is_read_again_one_by_one(name: str, asked: list) -> None:
    assert_it_comes_back(name, asked)


def assert_it_comes_back(name: str, asked: list) -> None:
    written = [ToolCall(f"call_{place}", tool.name, arguments) for place, (tool, arguments) in enumerate(asked)]
    reply = FORMATS[name].write_calls(written)
    expected = [(call.name, call.arguments) for call in written]
    if name in UNTYPED:
        expected = [(call.name, as_texts(call.arguments)) for call in written]
    if name in (*UNTYPED, "deepseek_dsml") and any(
        mark in str(value) for call in written for value in call.arguments.values() for mark in ("</", "<p", "<a")
    ):
        return
    assert calls(read(name, [reply])) == expected


def as_texts(values: dict) -> dict:
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        for key, value in values.items()
    }


@pytest.mark.parametrize("name", NAMES)
@given(content=REPLIES)
def test_a_result_is_never_a_call(name: str, content: str) -> None:
    results = [ChatMessage(Role.TOOL, content, call_id="1", name="now")]
    assert FORMATS[name].write_results(results).count("</tool_response>") <= 1


@every("name", NAMES)
def test_no_text_gives_nothing(name: str) -> None:
    reader = parser(name, OFFERED)
    assert joined([*reader.feed(""), *reader.flush(), *reader.flush()]) == []


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(KeyError):
        parser("esperanto", OFFERED)

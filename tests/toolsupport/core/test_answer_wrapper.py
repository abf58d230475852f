"""The tags that a model writes around its answer, directly behind its reasoning, are not shown; all others are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import grows_no_faster
from tests.tables import every
from tests.toolsupport.core.final_reply import Told, in_pieces, told
from tests.toolsupport.core.formats.replies import OFFERED
from toolsupport.core.answer_wrapper import AnswerWrapper
from toolsupport.core.events import CallReady, Event, TextDelta, ThinkingDelta
from toolsupport.core.expected_reply import circumstances
from toolsupport.core.formats import FORMATS
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolSpec

HUNYUAN = "<think>\nhm\n</think>\n<answer>\n{}\n</answer>"
ERNIE = "<think>\nhm\n</think>\n\n<response>\n{}\n</response>\n"
EVERY = [*FORMATS, "native", ""]
SIZES = (0, 1, 3, 7)
WRITTEN = [ToolCall("a", "get_weather", {"city": "Bonn", "days": 3})]
CALLS = [("get_weather", {"city": "Bonn", "days": 3})]


@every("format", EVERY)
@every("reply", [HUNYUAN, ERNIE])
def test_the_tags_around_an_answer_are_left_out(format: str, reply: str) -> None:
    for size in SIZES:
        found = told(format, reply.format("Hello, <b>you</b>"), size)
        assert (found.text, found.thinking.strip()) == ("Hello, <b>you</b>", "hm")


# The reply → its answer.
REPLIES = {
    "<think>a</think><answer>Hi</answer>": "Hi",
    "hm</think>\n<answer>\nHi\n</answer>": "Hi",  # the prompt ended in the opening mark
    "<think>\n\n</think>\n\n<answer>Hi</answer>": "Hi",  # it thought nothing
    "<think>a</think><answer>Hi</answer><|im_end|>": "Hi",
    "<think>a</think><answer>Hi</answer>\n<|im_end|>\n<|endoftext|>": "Hi",
    "<think>a</think><answer>\nHi": "Hi",
    "<think>a</think><answer>\nHi\n": "Hi\n",
    "<think>a</think>\n<answer>\n</answer>": "",
    "<think>a</think><answer>The end </answer> closes it, as in <answer>x</answer>.</answer>": (
        "The end </answer> closes it, as in <answer>x</answer>."
    ),
    "<think>a</think><answer>x</answer></answer>": "x</answer>",
    "<think>a</think><answer>b</answer><think>c</think><answer>d</answer>": "bd",
    "[THINK]a[/THINK]<answer>Hi</answer>": "Hi",
    # These are text.
    "<answer>Hi</answer>": "<answer>Hi</answer>",
    "<think>a</think>So: <answer>Hi</answer>": "So: <answer>Hi</answer>",
    "<think>a</think><answers>Hi</answers>": "<answers>Hi</answers>",
    "<think>a</think><answer id=1>Hi</answer>": "<answer id=1>Hi</answer>",
    "<think>a</think><answer>Hi</answer> and more": "Hi</answer> and more",
    "<think>a</think><answer>Hi</response>": "Hi</response>",
    "<think>a</think>Hi</answer>": "Hi</answer>",
    "<think>a</think>`<answer>` opens it": "`<answer>` opens it",
    "<think>a</think>```\n<answer>x</answer>\n```": "```\n<answer>x</answer>\n```",
    "<think>a</think><answer>\n```\n<a>\n</answer>\n": "```\n<a>\n</answer>\n",  # in a fence that is open
    "<think>a</think><answ": "<answ",
    "<think>a</think><answer>Hi </answ": "Hi </answ",
}


@every(("reply", "answer"), REPLIES.items())
@every("format", ["hermes", "hunyuan_a13b", "auto", "tool_tags", "native", ""])
def test_only_tags_that_are_the_wrapper(reply: str, answer: str, format: str) -> None:
    for size in SIZES:
        assert told(format, reply, size).text == answer


def test_a_cut_reply_shows_no_part_of_the_closing_tag() -> None:
    for size in SIZES:
        for end in ("", "</an", "</answer", "</answer>"):
            assert told("hermes", f"<think>a</think><answer>\nHi{end}", size, finish="length").text == "Hi"
        assert told("hermes", "<think>a</think><answer>\n1 <", size, finish="length").text == "1 <"


def test_a_server_that_separates_the_reasoning_leaves_the_tags() -> None:
    hm = ThinkingDelta("hm")
    for size in SIZES:
        for begins_inside in (None, True, False):
            for reply in ("\n<answer>\nHi\n</answer>", "</think>\n<answer>\nHi\n</answer>"):
                found = told("native", reply, size, begins_inside, before=[hm])
                assert (found.text, found.thinking) == ("Hi", "hm"), (size, begins_inside, reply)
            assert told("native", "\n <b>", size, before=[hm]).text == "\n <b>"


def test_reasoning_between_two_parts_of_an_answer() -> None:
    parts: list[Event] = [TextDelta("<think>a</think><answer>b"), ThinkingDelta("c"), TextDelta("d\n</answer>")]
    assert told("native", parts).text == "bd"


@every("format", sorted(set(FORMATS) - {"code_mode"}))
def test_calls_inside_and_behind_the_answer_are_made(format: str) -> None:
    call = FORMATS[format].write_calls(WRITTEN)
    for reply in (
        f"<think>hm</think>\n<answer>\n{call}\n</answer>",
        f"<think>hm</think>\n<answer>\nI will look.\n{call}\n</answer>",
        f"<think>hm</think>\n<answer>\nI will look.\n</answer>\n{call}",
    ):
        for size in SIZES:
            found = told(format, reply, size)
            assert found.calls == CALLS and "answer>" not in found.text, (reply, size, found)


def test_a_native_call_behind_the_answer() -> None:
    native = CallReady(WRITTEN[0], "{}")
    parts: list[Event] = [TextDelta("<think>hm</think><answer>I will look.\n</answer>"), native]
    found = told("native", parts)
    assert (found.text.strip(), found.calls) == ("I will look.", CALLS)
    found = told("native", [TextDelta("<think>hm</think><answer>Look"), native, TextDelta("\n</answer>")])
    assert (found.text.strip(), found.calls) == ("Look", CALLS)


def test_a_draft_that_only_an_empty_answer_follows_runs() -> None:
    draft = FORMATS["hermes"].write_calls(WRITTEN)
    for size in SIZES:
        assert told("hermes", f"<think>{draft}</think><answer></answer>", size).calls == CALLS
        assert told("hermes", f"<think>{draft}</think><answer>No.</answer>", size) == Told("No.", draft)


@every("role", [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL])
@every("tag", ["answer", "response"])
def test_tags_that_the_request_names_are_kept(role: Role, tag: str) -> None:
    """A program that asks for them reads them."""
    asked = [ChatMessage(role, f"Write the result in <{tag}> tags."), ChatMessage(Role.USER, "What is 1 + 1?")]
    reply = f"<think>a</think>\n<{tag}>2</{tag}>"
    for called_for in (False, True):
        shown = circumstances(asked, lambda raw: False, called_for)
        assert told("native", reply, 3, circumstances=shown).text == f"<{tag}>2</{tag}>"
        other = reply.replace(tag, "response" if tag == "answer" else "answer")
        assert told("native", other, 3, circumstances=shown).text == "2"
    assert told("native", reply, 3, circumstances=circumstances(asked[1:], lambda raw: False)).text == "2"


def test_a_tool_of_the_name_of_a_tag_is_called() -> None:
    tool = ToolSpec("answer", "", {"type": "object", "properties": {"text": {"type": "string"}}})
    for size in SIZES:
        found = told("tool_tags", "<think>a</think><answer><text>Hi</text></answer>", size, tools=[*OFFERED, tool])
        assert found.calls == [("answer", {"text": "Hi"})]


PIECES = ("<think>", "</think>", "<answer>", "</answer>", "<response>", "</response>", "<answ", "</", ">", " ", "\n")
OTHERS = ("hm", "CALL", "```\n", "`", '"', "<|im_end|>", "</s>", "<")


@given(
    format=st.sampled_from(EVERY),
    parts=st.lists(st.sampled_from((*PIECES, *OTHERS)), max_size=12),
    begun=st.booleans(),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    begins_inside=st.sampled_from([None, True, False]),
    finish=st.sampled_from(["stop", "length"]),
)
def test_pieces_never_matter(format, parts, begun, sizes, begins_inside, finish) -> None:
    call = FORMATS[format].write_calls(WRITTEN) if format in FORMATS else "a word"
    reply = ("<think>a</think><answer>" if begun else "") + "".join(parts).replace("CALL", call)
    whole = told(format, reply, 0, begins_inside, finish=finish)
    assert told(format, in_pieces(reply, sizes), 0, begins_inside, finish=finish) == whole
    assert told(format, reply, 1, begins_inside, finish=finish) == whole


WORDS = ("hm ", "<b>", "</b>", "<answ", "answer>", "</answ", "\n", "<", ">", "</", "`x`")


@given(st.lists(st.sampled_from(WORDS), max_size=12).map("".join))
def test_nothing_else_is_lost(words: str) -> None:
    inner = f"a{words}b"
    if "</answer>" in inner or "<answer>" in inner:
        inner = inner.replace("answer>", "")
    for size in (0, 1):
        assert told("native", HUNYUAN.format(inner), size).text == inner


@pytest.mark.parametrize("piece", ["</answer>", "</answ", " ", "\n</answer>\n", "<answer>", "</answer> a"])
@pytest.mark.parametrize("size", [1, 4096])
def test_the_time_is_linear(piece: str, size: int) -> None:
    def read(count: int) -> None:
        told("native", "<think>a</think><answer>" + piece * count, size)

    assert grows_no_faster(read, 500, 4000)


@pytest.mark.parametrize("piece", [" ", "\n", "<", "</", "</answer>", "a </answer> "])
def test_what_is_held_back_is_not_read_again(piece: str) -> None:
    def read(count: int) -> None:
        wrapper = AnswerWrapper()
        wrapper.opens("</answer>")
        for character in (piece * count)[:count]:
            wrapper.text(character)

    assert grows_no_faster(read, 4000, 64_000)


INKLING = "<|content_thinking|>Hm.<|end_message|><|message_model|><|content_text|>Hello<|end_message|>"


@pytest.mark.parametrize("format", ["hermes", "auto", "native", ""])
def test_the_blocks_of_inkling(format: str) -> None:
    """As a server passes them on that does not leave out special tokens."""
    for size in SIZES:
        for reply in (INKLING, f"<|message_model|>{INKLING}<|content_model_end_sampling|>"):
            assert told(format, reply, size) == Told("Hello", "Hm.")
        assert told(format, "Hello<|end_message|>", size) == Told("Hello")  # without reasoning, vLLM leaves the end
        assert told(format, "Its end is <|end_message|>, a token.", size).text == "Its end is <|end_message|>, a token."

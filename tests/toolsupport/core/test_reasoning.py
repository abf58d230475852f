"""Reasoning in the text is no answer, and what is drafted in it does not run, in any format and any pieces."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.growth import grows_no_faster
from tests.tables import every
from tests.toolsupport.core.final_reply import Told, in_pieces, told
from toolsupport.core.events import (
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    TextDelta,
    ThinkingDelta,
)
from toolsupport.core.formats import FORMATS
from toolsupport.core.quote_tracker import QuoteTracker
from toolsupport.core.reasoning import (
    CLOSING,
    OPENING,
    TABLE,
    prompt_begins_inside,
    template_begins_inside,
)
from toolsupport.core.types import ToolCall

WRITTEN = (ToolCall("a", "get_weather", {"city": "Bonn", "days": 3}),)
CALLS = [("get_weather", {"city": "Bonn", "days": 3})]
CALLING = sorted(set(FORMATS) - {"code_mode"})
EVERY = [*FORMATS, "native", ""]
SIZES = (0, 1, 5)
PROVING = [(row.opens[0], row.closes[0]) for row in TABLE if row.proves]
THINK = ("<think>", "</think>")


def drafted(format: str) -> str:
    return FORMATS[format].write_calls(WRITTEN) if format in FORMATS else "a word"


@every("format", EVERY)
@every("size", SIZES)
def test_reasoning_is_no_answer(format: str, size: int) -> None:  # F3
    assert told(format, "<think>hm</think>\n\nHello", size) == Told("Hello", "hm")
    assert told(format, "hm</think>\n\nHello", size) == Told("Hello", "hm", begins_inside=True)
    assert told(format, "hm</think>\n\nHello", size, begins_inside=True) == Told("Hello", "hm")


@every("format", EVERY)
@every("size", SIZES)
def test_a_draft_that_is_followed_by_an_answer_does_not_run(format: str, size: int) -> None:  # F3
    draft = f"I might\n{drafted(format)}\nbut no."
    assert told(format, f"<think>{draft}</think>No need.", size) == Told("No need.", draft)
    assert told(format, f"{draft}</think>No need.", size) == Told("No need.", draft, begins_inside=True)
    assert told(format, f"{draft}</think>No need.", size, begins_inside=True) == Told("No need.", draft)


@every("format", CALLING)
@every("size", SIZES)
def test_a_call_behind_the_reasoning_runs_and_one_at_its_end(format: str, size: int) -> None:  # F3
    call = drafted(format)
    for begins_inside in (None, True):
        assert told(format, f"hm</think>\n{call}", size, begins_inside).calls == CALLS
        assert told(format, f"hm\n{call}\n</think>\n", size, begins_inside).calls == CALLS
        assert told(format, f"I might\n{call}\nor</think>\n{call}", size, begins_inside).calls == CALLS


@every("opening, closing", [(o, c) for o, row in OPENING.items() for c in row.closes])
@every("format", ["hermes", "pythonic", "native", ""])
@every("size", [0, 1])
def test_every_pair_of_marks(opening: str, closing: str, format: str, size: int) -> None:
    reply = f"{opening}hm{closing}Hello{''.join(OPENING[opening].around)}"
    found = told(format, reply, size)
    assert (found.text, found.thinking) == ("Hello", "hm")


@every("opening, closing", PROVING)
def test_every_lone_closing_mark_that_proves_it(opening: str, closing: str) -> None:
    assert told("native", f"hm{closing}Hello", 1) == Told("Hello", "hm", begins_inside=True)


WRONG_ENDS = (
    ("<think>", "</thinking>"),
    ("<thinking>", "</think>"),
    ("<thinking>", "</thought>"),
    ("[THINK]", "</think>"),
    ("<seed:think>", "</think>"),
    ("<mm:think>", "</think>"),
    ("<think>", "</mm:think>"),
    ("<think>", "<think>"),
    ("<THINK>", "</think>"),
)


@every("opening, closing", WRONG_ENDS)
@every("format", ["hermes", "pythonic", "pure_json", "kimi_k2", "native", ""])
@every("size", [0, 1])
def test_the_closing_mark_of_another_tag_ends_it(opening: str, closing: str, format: str, size: int) -> None:  # F3
    found = told(format, f"{opening}\nI might\n{drafted(format)}\nbut no.\n{closing}\nNo need.", size)
    assert (found.text.strip(), found.calls) == ("No need.", [])


@pytest.mark.parametrize("format", ["hermes", "pythonic", "native", ""])
def test_a_common_element_opens_reasoning_only_at_the_beginning_of_a_line(format: str) -> None:
    for size in SIZES:
        for reply in ("The tag <analysis> holds it.", "A <reflection>b</reflection> c."):
            assert told(format, reply, size) == Told(reply)
        assert told(format, "Well.\n<analysis>hm</analysis>Hello", size).thinking == "hm"


@every("format", sorted(set(CALLING) - {"harmony"}))
@every("mark", ["<|im_end|>", "</s>", "<|eot_id|>", "\n<|im_end|>\n<|endoftext|>"])
def test_a_mark_that_ends_the_turn_is_no_word(format: str, mark: str) -> None:  # F3
    for size in SIZES:
        assert told(format, f"<think>I will\n{drafted(format)}\n</think>{mark}", size).calls == CALLS
        assert told(format, f"<think>I will\n{drafted(format)}\n</think>{mark} No.", size).calls == []


@every("format", CALLING)
@every("size", SIZES)
def test_a_draft_that_words_follow_in_the_reasoning_was_dropped(format: str, size: int) -> None:  # F3
    draft = f"I could\n{drafted(format)}\nbut I will not."
    assert told(format, f"<think>{draft}</think>", size).calls == []
    assert told(format, f"{draft}</think>", size).calls == []
    assert told(format, f"<think>{draft}\n{drafted(format)}\n</think>", size).calls == CALLS


HARMONY = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>"
APRIEL = "Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nHello\n[END FINAL RESPONSE]\n"


@pytest.mark.parametrize("format", ["harmony", "auto", "hermes", "native", ""])
def test_harmony_in_any_format(format: str) -> None:
    for size in SIZES:
        found = told(format, HARMONY, size)
        assert (found.text, found.thinking) == ("Hello", "Hm.")


BARE = {
    "analysisWe add.assistantfinalFour.": ("Four.", "We add."),
    "analysis用户问好。assistantfinal你好": ("你好", "用户问好。"),
    "analysisHm.assistantanalysisWell.assistantfinalHi.": ("Hi.", "Hm.Well."),
    "assistantfinalHello": ("Hello", ""),
    "analysisResult = 5": ("analysisResult = 5", ""),
    "analysis of it, assistantfinal": ("analysis of it, assistantfinal", ""),
    "The word is assistantfinal.": ("The word is assistantfinal.", ""),
    "analysis": ("analysis", ""),
}


@every(("reply", "expected"), BARE.items())
@every("format", ["harmony", "auto", "hermes", "pythonic", "native", ""])
def test_harmony_of_a_server_that_leaves_out_special_tokens(format: str, reply: str, expected: tuple[str, str]) -> None:
    for size in SIZES:
        found = told(format, reply, size)
        assert (found.text, found.thinking) == expected
    cut = told(format, reply.partition("assistant")[0], 1, finish="length")
    assert not reply.startswith("analysisWe") or (cut.text, cut.thinking) == ("", "We add.")


def test_the_box_around_an_answer_of_glm_is_left_out() -> None:
    for size in SIZES:
        assert told("glm45", "<think>a</think><|begin_of_box|>42<|end_of_box|>", size) == Told("42", "a")
        assert told("", "The mark `<|begin_of_box|>`.", size).text == "The mark `<|begin_of_box|>`."


def test_the_words_of_apriel_count_only_as_the_first_ones() -> None:
    for size in SIZES:
        assert told("jamba", APRIEL, size).text.strip() == "Hello"
    assert told("jamba", "Well. Here are my reasoning steps: add 1.").text.startswith("Well. Here are")


@every(
    "answer",
    [
        "Use `</think>` to end it.",
        "Use `<think>` and `</think>`, twice `</think>`.",
        'The tags "<think>" and “</think>” do it.',
        'The phrase "a </think> b" is quoted.',
        "'<think>' begins it, '</think>' ends it.",
        "```xml\n<think>\nhm\n</think>\n```\nThat is it.",
        "~~~\n</think>\n~~~\nThat is it.",
    ],
)
@every("format", ["hermes", "pythonic", "code_mode", "auto", "native", ""])
def test_a_quoted_mark_is_text(answer: str, format: str) -> None:
    for size in SIZES:
        assert told(format, answer, size) == Told(answer)


def test_a_quote_that_never_closes_quotes_nothing() -> None:
    assert told("", 'It is 5" long\n</think>Hello', 1).text == "Hello"
    assert told("", 'It is 5" long</think>\nHello', 1).text == "Hello"
    assert told("", "```\nhm\n</think>Hello", 1).text == "Hello"


@every("format", sorted(set(CALLING) - {"auto"}))
def test_a_mark_in_an_argument_is_an_argument(format: str) -> None:
    call = ToolCall("a", "get_weather", {"city": "<think>x</think>"})
    found = told(format, FORMATS[format].write_calls([call]))
    assert (found.calls, found.thinking) == ([("get_weather", call.arguments)], "")


def test_a_draft_that_breaks_off_does_not_swallow_the_answer() -> None:
    for format, draft in (
        ("hermes", '<tool_call>{"name": "get_weather", "arguments": {"city": "Bonn"}'),
        ("pure_json", '{"name": "get_weather", "parameters": {"city": "Bonn"'),
        ("pythonic", '[get_weather(city="Bonn"'),
        ("qwen3_coder_xml", "<tool_call><function=get_weather><parameter=city>Bonn"),
    ):
        for size in SIZES:
            found = told(format, f"I might {draft}</think>\n\nNo need.", size)
            assert (found.text, found.calls) == ("No need.", []), format


def test_what_only_a_guess_took_for_reasoning_is_the_answer() -> None:
    for format in EVERY:
        assert told(format, "Hello there", 1, begins_inside=True) == Told("Hello there", begins_inside=False)
    assert told("", "The <think> tag begins it.", 1) == Told("The <think> tag begins it.")
    assert told("", "Hello", 1, begins_inside=True, finish="length") == Told("", "Hello")


def test_a_repeated_opening_mark_begins_the_same_reasoning() -> None:
    assert told("hermes", "\n<think>\nhm</think>Hi", 1, begins_inside=True) == Told("Hi", "hm", begins_inside=False)


def test_a_server_that_takes_the_reasoning_out_leaves_no_mark_behind() -> None:
    hm = ThinkingDelta("hm")
    for format in EVERY:
        for begins_inside in (None, True):
            found = told(format, "</think>\n\nHello", 1, begins_inside, before=[hm])
            assert (found.text, found.thinking, found.calls) == ("Hello", "hm", [])
    assert told("", "Hello", 1, begins_inside=True, before=[hm]) == Told("Hello", "hm", begins_inside=False)


NATIVE = CallReady(ToolCall("n", "get_weather", {"city": "Bonn"}), "{}")


def test_a_native_call_in_the_middle_of_reasoning_is_a_draft() -> None:
    for opening in ("<think>", ""):
        parts: list[Event] = [TextDelta(f"{opening}I might "), NATIVE, TextDelta(" but no.</think>")]
        assert told("native", parts).calls == [("get_weather", {"city": "Bonn"})]
        assert told("native", [*parts, TextDelta("No need.")]).calls == []
    assert told("native", [TextDelta("<think>hm</think>"), NATIVE]).calls != []
    assert told("native", [TextDelta("hm"), NATIVE]).calls != []


def test_calls_are_told_at_the_end() -> None:
    """What follows may void them."""
    parts: list[Event] = [TextDelta(drafted("hermes")), NATIVE, TextDelta("</think>Hi")]
    assert told("hermes", parts) == Told("Hi", drafted("hermes"), begins_inside=True)
    assert told("hermes", [*parts[:2]]).calls != []


def test_a_reply_that_fails_teaches_nothing() -> None:
    assert told("", [TextDelta("hm</think>Hi")], end=Failed("cut", "gone")).begins_inside is None


PIECES = (*CLOSING, *OPENING, "hm", " ", "\n", "`", '"', "'", "```\n", "“", "”", "answer", "<", "</", "[", "<|")


@given(
    format=st.sampled_from(EVERY),
    parts=st.lists(st.sampled_from(PIECES) | st.just("CALL"), max_size=10),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    begins_inside=st.sampled_from([None, True, False]),
    finish=st.sampled_from(["stop", "length"]),
)
def test_pieces_never_matter(format, parts, sizes, begins_inside, finish) -> None:
    reply = "".join(parts).replace("CALL", drafted(format))
    whole = told(format, reply, 0, begins_inside, finish=finish)
    assert told(format, in_pieces(reply, sizes), 0, begins_inside, finish=finish) == whole
    assert told(format, reply, 1, begins_inside, finish=finish) == whole


@example(format="code_mode", before=["CALL", " ", "CALL"])  # a fence behind a call begins no line
@given(
    format=st.sampled_from(EVERY),
    before=st.lists(st.sampled_from(("hm", " ", "\n", "CALL", "\nCALL\n", "<", "{", "[", "(")), max_size=8),
)
def test_nothing_before_a_lone_closing_mark_runs(format, before) -> None:
    reply = "".join(before).replace("CALL", drafted(format)) + "\n</think>\n\nNo need."
    # Behind words on its line, "```" begins no fence, and the readers disagree about the ones below: all stays text.
    assume(not re.search(r"[^\s`][ \t]*```", reply) or before == ["CALL", " ", "CALL"])
    for begins_inside in (None, True):
        found = told(format, reply, 3, begins_inside)
        assert (found.calls, found.text) == ([], "No need.")


FENCED_ANSWERS = (
    "Hello",
    "Hello\n```\ncode\n```\nbye",
    "Hello\n```python\ncode\n```\nbye",
    "a\n```\nb\n```\n\n```c\nd\n```",
)


@pytest.mark.parametrize("answer", FENCED_ANSWERS)
def test_reasoning_that_leaves_a_fence_open_ends_at_its_mark(answer: str) -> None:
    reply = f"I plan:\n```py\n{drafted('hermes')}\n</think>\n{answer}"
    for size in (1, 5, 0):
        found = told("hermes", reply, size)
        assert (found.calls, found.text) == ([], answer)


def test_a_mark_in_a_whole_fence_is_text() -> None:
    for reply in ("So:\n```\n</think>\n```\nBye", "So:\n````md\n```py\n</think>\n```\n````\nBye"):
        assert told("hermes", reply).text == reply


@pytest.mark.parametrize(
    "piece", ["</think>a", "<think>a</think>", '"</think>', '{"name":</think>', "`</think>\n", "<think>"]
)
@pytest.mark.parametrize("format", ["hermes", "auto", "native"])
def test_the_time_is_linear(piece: str, format: str) -> None:
    assert grows_no_faster(lambda count: told(format, piece * count, 4096), 125, 1000)


def test_where_the_answer_so_far_ends() -> None:
    around = QuoteTracker()
    around.add("a `b")
    assert (around.awaited, around.last, around.fence) == ("`", "b", "")
    around.add("`\n```py\nx")
    assert (around.awaited, around.fence) == ("", "```")
    around.add("\n```\n")
    assert around.fence == ""


@every(
    ("text", "fence"),
    [
        ("```py\nx\n``` ```py\ny\n", "```"),
        ("```py\nx\n``` ```py\ny\n```\n", ""),
        ("```py\nx\n```py\n", "```"),
        ("````\n```\n", "````"),
        ("~~~\n```\n", "~~~"),
        ("```py\nx\n```  \t\n", ""),
        ("```py\nx\n```\r\n", ""),
        ("``` `` \n", ""),
        ("```", "```"),
    ],
)
def test_only_a_fence_alone_on_its_line_closes(text: str, fence: str) -> None:
    for size in (1, len(text)):
        around = QuoteTracker()
        for at in range(0, len(text), size):
            around.add(text[at : at + size])
        assert around.fence == fence


def test_rejections_are_voided_too() -> None:
    rejected = CallRejected("x", "broken", "{")
    found = told("native", [TextDelta("hm"), rejected, TextDelta("</think>Hi")])
    assert (found.text, found.rejected) == ("Hi", [])
    assert told("native", [TextDelta("hm"), rejected], end=Finished("stop")).rejected == [("x", "unreadable")]


TEMPLATES = {
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}": True,
    "{% if add_generation_prompt and not ns.is_tool %}{{'<｜Assistant｜><think>\\n'}}{% endif %}": True,
    "{% if add_generation_prompt %}{% if enable_thinking %}<think>\n{% else %}<think>\n\n</think>{% endif %}": True,
    "{% if add_generation_prompt %}{{ 'a\\n' }}{% if off %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}": None,
    # DeepSeek V3.1: without `thinking` the prompt ends in the closing mark.
    "{% if add_generation_prompt %}{% if no %}</think>{% else %}<think>{% endif %}{% endif %}": None,
    "{{ '<think>' + content }}{% if add_generation_prompt %}{{ 'assistant' }}{% endif %}": None,
    "{{ range .Messages }}{{ .Content }}{{ end }}<|im_start|>assistant\n<think>\n": True,
    "{{ range .Messages }}{{ if $last }}<|im_start|>assistant\n<think>\n{{- end }}\n{{ end }}": True,
    "<|user|>{{ .Prompt }}<|assistant|><think>\n{{ .Response }}<|end|>": True,
    "<|user|>{{ .Prompt }}<|assistant|>[THINK]{{- .Response }}": True,
    "{{ .Prompt }}{{ if .Think }}<think>{{ else }}<think>\n\n</think>{{ end }}": None,
    "{{ .Prompt }}<think>{{ .Thinking }}</think>{{ .Response }}": None,
    "{{ .Prompt }}{{ .Response }}<think>": None,
    "{{ .Prompt }}": None,
    "{{ .Prompt }}}}": None,
    "<think>": None,
    "": None,
}


@every(("template", "begins_inside"), TEMPLATES.items())
def test_a_template_shows_how_replies_begin(template: str, begins_inside: bool | None) -> None:
    assert template_begins_inside(template) is begins_inside


def test_a_rendered_prompt_shows_it() -> None:
    assert prompt_begins_inside("<|im_start|>assistant\n<think>\n")
    assert prompt_begins_inside("<|begin_assistant|>\nHere are my reasoning steps:\n")
    assert not prompt_begins_inside("<|im_start|>assistant\n<think>\n\n</think>\n\n")

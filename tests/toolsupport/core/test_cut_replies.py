"""A call that only the end of a cut reply completes does not run, in any format, wherever the reply was cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.examples import by_night
from tests.tables import every
from tests.toolsupport.core.final_reply import told
from toolsupport.core.events import STOPPED, CallReady, CallRejected, Finished, TextDelta, ended_early, finish_reason
from toolsupport.core.formats import FORMATS
from toolsupport.core.formats.cut_replies import CUT, is_complete
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.types import ToolCall

ONE = [ToolCall("a", "get_weather", {"city": "Bonn", "days": 3})]
OTHER = [ToolCall("b", "now", {})]
EMPTY_ENDS = [ToolCall("c", "get_weather", {"city": "send </end> (x", "tags": ["a]", "b"]})]
# What belongs to a block of calls and not to the call: behind the call's own end it makes no difference.
BLOCK_ENDS = (
    "\n</tool_call>", "</tool_call>", "\n</seed:tool_call>", "</seed:tool_call>", "<｜tool▁calls▁end｜>",
    "\n</｜DSML｜function_calls>", "\n</｜DSML｜tool_calls>", "\n</minimax:tool_call>", "\n]<]minimax[>[</tool_call>",
    "\n</tool_calls>", "<|tool_calls_section_end|>", "<|close|>tools<|sep|>", "\n</function_calls>",
    "\n</dots_function_call>", "\n</atem:function_calls>", "\n</｜GCML｜tool_calls>", "\n<｜tool_calls_end｜>",
    "<｜tool_call_end｜>\n<｜tool_calls_end｜>", "<|calls|>", "\n</ifm|tool_calls>",
)  # fmt: skip
CALL_HAS_ITS_END = ("</tool_call>", "</function>", "</invoke>", "<｜tool▁call▁end｜>", "</｜DSML｜invoke>",
                    "<|tool_call_end|>", "<|close|>call<|sep|>", "</atem:invoke>", "</｜GCML｜invoke>",
                    "</steptml:invoke>", "<｜tool_call_end｜>", "<|tool_call:end|>", "</ifm|tool_call>")  # fmt: skip


def end_of_the_call(written: str) -> int:
    """How much of a written call has to be there."""
    if written.startswith("<|function_call|>"):
        return len(written.removesuffix("<|message_sep|>"))
    inner = [written.removesuffix(end) for end in BLOCK_ENDS if written.endswith(end)]
    return min((len(text) for text in inner if text.endswith(CALL_HAS_ITS_END)), default=len(written))


@every(("thinking", "calls"), [("", ONE), ("<think>hm</think>", OTHER), ("hm</think>\n", EMPTY_ENDS)])
@every("format", FORMATS)
def test_no_cut_makes_a_call(format: str, thinking: str, calls: list[ToolCall]) -> None:
    written = FORMATS[format].write_calls(calls)
    whole = end_of_the_call(written)
    for length in (*range(0, whole - 20, 3 if by_night() else 8), *range(max(0, whole - 20), len(written) + 1)):
        found = told(format, thinking + written[:length], finish="length")
        assert len(found.calls) == (length >= whole), (length, written[:length])


MARKS_IN_A_TEXT = ("</tool_call>", "</invoke>", "</tool_calls>", "[/TOOL_CALLS]", "<|tool_call_end|>", "<|call|>")


@every("format", sorted({*FORMATS} - {"code_mode"}))
@every("mark", MARKS_IN_A_TEXT)
def test_a_cut_behind_an_end_mark_within_a_text_makes_no_call(format: str, mark: str) -> None:
    written = FORMATS[format].write_calls([ToolCall("a", "write_file", {"path": "a", "content": f"b {mark} c"})])
    upto = written.find(mark, written.find("b ")) + len(mark)
    for length in (upto, upto + 1):
        assert told(format, written[:length], finish="length").calls == [], written[:length]


@every("format", FORMATS)
def test_a_call_before_the_cut_stays(format: str) -> None:
    first, both = FORMATS[format].write_calls(ONE), FORMATS[format].write_calls([*ONE, *OTHER])
    assert len(told(format, both, finish="length").calls) == 2
    assert len(told(format, f"{first}\n{both[:3]}", finish="length").calls) == 1


@every("format", FORMATS)
def test_a_cut_in_reasoning_runs_nothing(format: str) -> None:
    written = FORMATS[format].write_calls(ONE)
    for reply in (f"<think>I must look\n{written}", f"<think>I must look\n{written}\n</think>\n"):
        assert told(format, reply, finish="length").calls == []
        assert len(told(format, reply).calls) == 1


@every("format", [name for name in FORMATS if "pythonic" not in name])
def test_where_nothing_was_cut_the_end_is_still_added(format: str) -> None:
    """A server drops the end mark where it is the token that stops the model."""
    assert told(format, FORMATS[format].write_calls(ONE).rstrip("`\n")).rejected == []


def test_the_model_gets_the_reason_and_nobody_the_half_call() -> None:
    listener = ReplyReader("hermes", (), None)
    events = listener.feed([TextDelta('Well. <tool_call>{"name": "now", "arg'), Finished("length")])
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Well. "]
    [rejected] = [event for event in events if isinstance(event, CallRejected)]
    assert (rejected.fault, rejected.reason) == ("cut", CUT)
    assert rejected.raw == '<tool_call>{"name": "now", "arg'


def test_a_cut_program_does_not_run() -> None:
    for reply in ("```python\nimport os\nos.remove('a')", "<|python_tag|>print(1)\nos.remove('a')"):
        assert told("code_mode", reply, finish="length").calls == []
        assert len(told("code_mode", reply).calls) == 1


@given(text=st.text(st.sampled_from("<>/|[](){}\"'\\ne`=end"), max_size=40))
def test_the_judgement_is_made_about_any_text(text: str) -> None:
    assert is_complete(text) in (True, False)


@every(
    "written",
    ("max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens", "length", "incomplete", "maxTokensReached",
     "ERROR_LIMIT", "model_context_window_exceeded", "max_new_tokens", "truncated"),
)  # fmt: skip
def test_servers_have_several_words_for_the_limit(written: str) -> None:
    assert finish_reason(written) == "length" and ended_early(finish_reason(written))


@every("written", ("abort", "error", "repetition", "content_filter", "SAFETY", "insufficient_system_resource"))
def test_an_end_by_the_server_is_none_of_the_model(written: str) -> None:
    assert finish_reason(written) == written and ended_early(written)


@every("written", ("stop", "tool_calls", "eos_token", "stop_sequence", "end_turn", "tool_use", "function_call", "STOP"))
def test_an_end_that_the_model_chose_is_no_limit(written: str) -> None:
    assert finish_reason(written) == written and not ended_early(written)


@every("format", FORMATS)
@every("finish", STOPPED)
def test_a_stop_string_within_a_call_makes_no_half_call(format: str, finish: str) -> None:
    """None of its arguments is required, so that half of it would be a call, too."""
    whole = told(format, FORMATS[format].write_calls(ONE)).calls
    assert len(whole) == 1
    for before in ("", "<think>hm</think>\n"):
        written = before + FORMATS[format].write_calls(ONE)
        for length in range(4, len(written)):
            found = told(format, written[:length], finish=finish, stops=["\n\nHuman"])
            assert found.calls in ([], whole), written[:length]


@every(
    "format, half",
    [
        ("hermes", '<tool_call>{"name": "now"'),
        ("qwen3_coder_xml", "<tool_call>\n<function=now>\n"),
        ("glm45", "<tool_call>now"),
        ("mistral_args", "[TOOL_CALLS]now[ARGS]"),
        ("mistral_args", "[TOOL_CALLS]now"),
        ("pythonic", "[now("),
        ("llama3_json", '{"name": "now"'),
        ("kimi_k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0"),
        ("react", "Action: now\nAction Input: "),
        ("gemma4", "<|tool_call>call:now{"),
        ("invoke", '<invoke name="now">'),
        ("hermes", '<think>Maybe <tool_call>{"name": "now"'),
        ("hermes", '<think>Maybe <tool_call>{"name": "now"}</tool_call>'),
        ("hermes", '<think>Maybe <tool_call>{"name": "now"}</tool_call></think>'),
    ],
)
def test_half_a_call_without_arguments_is_not_run_behind_a_stop_string(format: str, half: str) -> None:
    assert told(format, half, stops=["</tool_call>", ":"]).calls == []


ENDS_OF_A_TURN = ("<|im_end|>", "</s>", "\nObservation:", "Observation", " <|eot_id|> ")


@every("format", FORMATS)
def test_a_stop_string_that_ends_the_turn_cuts_no_call(format: str) -> None:
    written = FORMATS[format].write_calls(OTHER)
    for length in range(4, len(written) + 1):
        without = told(format, written[:length])
        for stop in ENDS_OF_A_TURN:
            assert told(format, written[:length], stops=[stop]) == without, (stop, written[:length])


@every(
    "format, written",
    [
        ("hermes", '<tool_call>{"name": "now", "arguments": {}}'),
        ("qwen3_coder_xml", "<tool_call>\n<function=now>\n</function>\n"),
        ("harmony", "<|channel|>commentary to=functions.now <|constrain|>json<|message|>{}"),
        ("lfm2_pythonic", "<|tool_call_start|>[now()]"),
        ("kimi_k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}"),
        ("react", "Action: now\nAction Input: {}"),
        ("mistral_args", "[TOOL_CALLS]now[ARGS]{}"),
    ],
)
def test_a_stop_string_behind_a_closed_call_leaves_it(format: str, written: str) -> None:
    assert told(format, written, stops=["</tool_call>"]).calls == [("now", {})]


@every("raw, calls", [("", 0), ("{}", 1)])
def test_a_native_call_without_arguments_behind_a_stop_string(raw: str, calls: int) -> None:
    """Behind "tool_calls" the server read a whole one."""
    native = [CallReady(OTHER[0], raw)]
    assert len(told("native", native, stops=["x"]).calls) == calls
    assert len(told("native", native, stops=["x"], finish="tool_calls").calls) == 1
    assert len(told("native", native).calls) == 1


@every("format", FORMATS)
@every("finish", ("content_filter", "abort", "SAFETY", "insufficient_system_resource"))
def test_a_reply_that_its_server_ended_runs_no_half_call(format: str, finish: str) -> None:
    written = FORMATS[format].write_calls(ONE)
    for length in range(4, end_of_the_call(written), max(1, len(written) // 12)):
        assert told(format, written[:length], finish=finish).calls == [], written[:length]

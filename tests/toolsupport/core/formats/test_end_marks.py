"""Marks that end a turn are no text at the end of a reply or behind a call, and text anywhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from tests.toolsupport.core.formats.replies import OFFERED, calls, read, text
from tests.toolsupport.core.formats.test_properties import in_pieces
from toolsupport.core.events import Event, Finished, TextDelta
from toolsupport.core.formats import FORMATS
from toolsupport.core.reply_reader import ReplyReader

CALL = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
# Marks with which models are seen to end a turn, whether or not our table has them.
END_MARKS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end_of_turn|>",
    "<|endofturn|>",
    "[|endofturn|]",
    "<|END_OF_TURN_TOKEN|>",
    "<|end_of_role|>",
    "<|end_of_sentence|>",
    "<|end|>",
    "<|return|>",
    "<|eos|>",
    "<|observation|>",
    "<｜end▁of▁sentence｜>",
    "<|end▁of▁sentence|>",
    "<end_of_turn>",
    "<turn|>",
    "<end_of_utterance>",
    "<eos>",
    "<start_function_response>",
    "<|tool_response>",
    "<|assistant_end|>",
    "<|role_end|>",
    "<|EOT|>",
    "<|user|>",
    "</s>",
    "[EOS]",
    "[e~[",
    "<|endofresponse|>",
    "</longcat_s>",
    "<seed:eos>",
    "<SPECIAL_12>",
)
# These belong to the format itself.
OWN = {"harmony": ("<|end|>", "<|return|>"), "llama3_json": (), "code_mode": ()}


@pytest.mark.parametrize("name", sorted(FORMATS))
@every("mark", END_MARKS)
def test_a_mark_at_the_end_is_left_out(name: str, mark: str) -> None:
    assert text(read(name, [f"It is cold.{mark}"])) == "It is cold."
    assert text(read(name, [f"It is cold.{mark}\n{mark}"])) == "It is cold.\n"
    if mark not in OWN.get(name, ()):
        quoted = f"The mark {mark} ends a turn."
        assert text(read(name, list(quoted))) == quoted


@every("mark", END_MARKS)
def test_a_mark_behind_a_call_is_left_out(mark: str) -> None:
    events = read("hermes", list(f"{CALL}{mark}\nI wait."))
    assert (len(calls(events)), text(events)) == (1, "\nI wait.")
    events = read("hermes", list(f"{CALL}{mark}{CALL}{mark}"))
    assert (len(calls(events)), text(events)) == (2, "")


def test_text_that_is_struck_out_keeps_its_end() -> None:
    assert text(read("hermes", list("Now <s>9</s> 8, was <s>9</s>"))) == "Now <s>9</s> 8, was <s>9</s>"


@pytest.mark.parametrize("name", ["", "native"])
def test_a_reply_without_a_format_shows_none_either(name: str) -> None:
    listener = ReplyReader(name, OFFERED)
    received: list[Event] = []
    for piece in "It is cold.<|im_end|>":
        received += listener.feed([TextDelta(piece)])
    assert text([*received, *listener.feed([Finished("stop")])]) == "It is cold."


SCRAPS = st.lists(st.sampled_from([*END_MARKS[:4], "</s>", "<s>", "<", "|", "words", " ", "\n", CALL]), max_size=10)


@given(scraps=SCRAPS, cuts=st.lists(st.integers(0, 200), max_size=8))
def test_pieces_never_matter(scraps: list[str], cuts: list[int]) -> None:
    reply = "".join(scraps)
    assert read("hermes", list(reply)) == read("hermes", [reply]) == read("hermes", in_pieces(reply, cuts))

"""An answer that was cut continues where it ended, without repeating."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.core.prompt import GO_ON
from toolsupport.simulator.models import MODELS
from toolsupport.simulator.quirks import honest
from toolsupport.simulator.rules import continued_reply
from toolsupport.simulator.rules.fixed_texts import LONG
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool, SimulatedCall

LIST = OfferedTool("list_directory", "Lists the entries of a directory.", {})
ASKED = HistoryMessage("user", "A long answer, please")
LISTED = (
    HistoryMessage("user", "What's in this folder?"),
    HistoryMessage("assistant", calls=(SimulatedCall("list_directory", {}),)),
    HistoryMessage("tool", "a.md\nb.md", name="list_directory"),
)


def go_on(*before: HistoryMessage, words: str = GO_ON, name: str = "sim-honest") -> str:
    messages = (*before, HistoryMessage("user", words))
    return continued_reply.reply(MODELS[name].reply, ModelInput(messages, (LIST,))).content


@every("place", [1, 7, 40, 41, 500, len(LONG) - 3])
def test_what_was_said_and_what_follows_are_the_whole(place: int) -> None:
    said = HistoryMessage("assistant", LONG[:place])
    assert LONG[:place] + go_on(ASKED, said) == LONG
    stripped = HistoryMessage("assistant", LONG[:place].rstrip())
    assert "".join((stripped.content + go_on(ASKED, stripped)).split()) == "".join(LONG.split())


def test_an_answer_cut_several_times_goes_on_after_all_of_it() -> None:
    parts = (HistoryMessage("assistant", LONG[:30]), HistoryMessage("assistant", LONG[30:90]))
    assert LONG[:90] + go_on(ASKED, *parts) == LONG
    joined = HistoryMessage("assistant", f"{LONG[:30].rstrip()}\n\n{LONG[30:90].lstrip()}")
    assert go_on(ASKED, joined) == LONG[90:]


def test_an_answer_after_a_tool_goes_on() -> None:
    whole = honest.reply(ModelInput(LISTED, (LIST,))).content
    assert whole[:20] + go_on(*LISTED, HistoryMessage("assistant", whole[:20])) == whole


@every("words", [GO_ON, "continue", "Go on!", "please continue", "Keep going.", "Continue exactly where you stopped"])
def test_wordings_of_the_request(words: str) -> None:
    assert go_on(ASKED, HistoryMessage("assistant", LONG[:50]), words=words) == LONG[50:]


@every("words", ["Continue with config.json and read it", "go on and list src/", "continue the list?"])
def test_other_requests_are_requests_of_their_own(words: str) -> None:
    prompt = ModelInput((ASKED, HistoryMessage("assistant", LONG[:50]), HistoryMessage("user", words)), (LIST,))
    assert continued_reply.reply(honest.reply, prompt) == honest.reply(prompt)


def test_what_is_complete_or_of_another_is_said_so() -> None:
    assert go_on(ASKED, HistoryMessage("assistant", LONG)) == continued_reply.COMPLETE
    assert go_on(ASKED, HistoryMessage("assistant", "Once upon a time")) == continued_reply.NOT_MINE


def test_a_reply_cut_while_it_thought_begins_with_its_answer() -> None:
    assert go_on(ASKED, HistoryMessage("assistant", ""), name="sim-thinks") == LONG


@pytest.mark.parametrize("name", ["sim-long", "sim-thinks", "sim-hermes", "sim-sees", "sim-claims"])
def test_every_kind_of_model_goes_on(name: str) -> None:
    hello = HistoryMessage("user", "hello")
    whole = MODELS[name].reply(ModelInput((hello,))).content
    messages = (hello, HistoryMessage("assistant", whole[:25]), HistoryMessage("user", GO_ON))
    assert whole[:25] + continued_reply.reply(MODELS[name].reply, ModelInput(messages)).content == whole

"""The next request to a model whose server could not read its call."""

from __future__ import annotations

from tests.tables import every
from toolsupport.core import retry_prompts
from toolsupport.core.events import CallGarbled, Failed
from toolsupport.core.types import ChatMessage, Role, ToolCall

USER = ChatMessage(Role.USER, "What's in this folder?")
CALL = ChatMessage(Role.ASSISTANT, "", calls=(ToolCall("1", "list_directory", {}),))
RESULT = ChatMessage(Role.TOOL, "a.txt", call_id="1", name="list_directory")
WHY = "XML syntax error on line 14: element <parameter> closed by </function>"


@every("log", [(USER,), (USER, CALL, RESULT), (USER, CALL, RESULT, ChatMessage(Role.ASSISTANT, "Hm."))])
@every("shown", ["", " \n", "Let me look.\n\n"])
def test_people_and_models_take_turns(log: tuple[ChatMessage, ...], shown: str) -> None:
    asked = retry_prompts.messages(log, shown, WHY)
    assert asked[-1].role is Role.USER and WHY in asked[-1].content
    assert asked[-2].role is not Role.USER if len(asked) > 1 else True
    assert ("Let me look." in [message.content for message in asked]) is bool(shown.strip())
    assert all(message.content for message in asked[len(log) :])
    assert log[0].content in asked[0].content


def test_a_reason_stays_short() -> None:
    assert len(retry_prompts.messages((USER,), "", "x" * 9000)[-1].content) < 700


def test_the_end_is_a_sentence_and_keeps_the_evidence() -> None:
    failed = Failed("server", "The server failed (500): raw", 500, '{"error":"raw"}')
    ended = retry_prompts.given_up(failed, CallGarbled(WHY, "unreadable-markup"))
    assert (ended.kind, ended.status, ended.body) == ("unreadable_call", 500, '{"error":"raw"}')
    assert "3 times in a row" in ended.message and "Nothing was run" in ended.message

"""No strict server refuses a rendered history, for any events and any model."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import grows_no_faster
from tests.tables import every
from tests.toolsupport.core import strict_servers
from toolsupport.core.formats import FORMATS
from toolsupport.core.prompt import RenderTarget, history
from toolsupport.core.prompt.history_rendering import BEGINNING, BROKEN_OFF, INTERRUPTED
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolSpec

NATIVE, WORDS, HERMES = RenderTarget("native"), RenderTarget(), RenderTarget("hermes")


def user(text: str = "u") -> ChatMessage:
    return ChatMessage(Role.USER, text)


def said(text: str = "a", *ids: str, thinking: str = "") -> ChatMessage:
    return ChatMessage(Role.ASSISTANT, text, thinking, tuple(ToolCall(id_, "f", {"x": id_}) for id_ in ids))


def result(id_: str, text: str = "r") -> ChatMessage:
    return ChatMessage(Role.TOOL, text, call_id=id_, name="f")


ONE, TWO, SIX = "aaaaaaaa1", "aaaaaaaa2", "aaaaaaaa6"


def test_a_whole_tool_turn_is_left_alone() -> None:
    log = (ChatMessage(Role.SYSTEM, "s"), user(), said("", ONE, TWO), result(ONE), result(TWO), said("done"))
    assert history(log, NATIVE) == log


def test_notices_are_for_people() -> None:
    log = (user("one"), ChatMessage(Role.NOTICE, "Switched to m."), said())
    assert history(log, NATIVE) == history(log, WORDS) == history(log, HERMES) == (user("one"), said())


def test_results_come_in_the_order_of_their_calls() -> None:
    log = (user(), said("", "1", "2"), result("2", "second"), ChatMessage(Role.NOTICE, "!"), result("1", "first"))
    assert [message.content for message in history(log, NATIVE)[2:]] == ["first", "second"]


def test_a_call_without_a_result_gets_one() -> None:
    log = (user(), said("", ONE, TWO), result(ONE), user("go on"))
    assert history(log, NATIVE)[2:] == (
        result(ONE),
        result(TWO, INTERRUPTED),
        ChatMessage(Role.ASSISTANT, BROKEN_OFF),
        user("go on"),
    )


def test_a_result_without_a_call_is_left_out() -> None:
    log = (user(), result("9"), said(), result("9"), user())
    assert history(log, NATIVE) == (user(), said(), user())


def test_a_second_result_is_left_out() -> None:
    log = (user(), said("", ONE), result(ONE, "first"), result(ONE, "again"))
    assert history(log, NATIVE)[2:] == (result(ONE, "first"),)


# Programs write parallel calls as messages of their own, or hand a result in after the next call.
SCATTERED = {
    "calls first": (said("", ONE), said("", TWO), result(ONE, "first"), result(TWO, "second")),
    "results in another order": (said("", ONE), said("", TWO), result(TWO, "second"), result(ONE, "first")),
    "words between": (said("", ONE), user("wait"), said("", TWO), result(TWO, "second"), result(ONE, "first")),
    "a late result": (said("", ONE), said("", TWO), result(TWO, "second"), said("and"), result(ONE, "first")),
}


@every("order", sorted(SCATTERED))
def test_a_result_finds_its_call_across_other_calls(order: str) -> None:
    rendered = history((user(), *SCATTERED[order]), NATIVE)
    told = [(message.call_id, message.content) for message in rendered if message.role is Role.TOOL]
    assert told == [(ONE, "first"), (TWO, "second")]


def test_a_late_result_belongs_to_the_latest_call_of_its_id() -> None:
    log = (user(), said("", ONE), user("go on"), said("", ONE), said("", TWO), result(ONE, "second"))
    assert [message.content for message in history(log, NATIVE) if message.role is Role.TOOL] == [
        INTERRUPTED,
        "second",
        INTERRUPTED,
    ]


def test_two_calls_of_one_id_in_one_message() -> None:
    log = (user(), said("", "x", "x"), result("x", "first"), result("x", "second"))
    asked, *results = history(log, NATIVE)[1:]
    assert [message.content for message in results] == ["first", "second"]
    assert [message.call_id for message in results] == [call.id for call in asked.calls]


@every("call_format", ["hermes", "mistral_json"])
@every("given_id", ["call_0", "", "abcdef123", "x" * 40, "é", "\ud800"])
def test_the_same_id_in_two_rounds(call_format: str, given_id: str) -> None:
    log = (user(), said("", given_id), result(given_id, "one"), said("", given_id), result(given_id, "two"))
    rendered = history(log, RenderTarget("native", call_format))
    first, second = [message.calls[0].id for message in rendered if message.calls]
    assert first != second and re.fullmatch("[A-Za-z0-9]{9}", second)
    told = [(message.call_id, message.content) for message in rendered if message.role is Role.TOOL]
    assert told == [(first, "one"), (second, "two")]
    assert history(log, RenderTarget("native", call_format)) == rendered


FOREIGN = ("functions.g:4", "toolu.01:x", "call 1", "x" * 65, "ü", "a/b", "id\n")


@every("call_format", ["", "hermes", "mistral_args", "llama3_json"])
@every("given_id", FOREIGN)
def test_an_id_that_servers_refuse_is_replaced_in_the_call_and_its_result(call_format: str, given_id: str) -> None:
    log = (user(), said("", given_id, ONE), result(ONE, "one"), result(given_id, "foreign"))
    asked, *told = history(log, RenderTarget("native", call_format))[1:]
    assert re.fullmatch(r"[A-Za-z0-9]{9}", asked.calls[0].id) and asked.calls[0].id != ONE
    assert [(message.call_id, message.content) for message in told] == [(asked.calls[0].id, "foreign"), (ONE, "one")]


def test_kimi_gets_the_ids_of_its_template() -> None:
    log = (user(), said("", "functions.g:4"), result("functions.g:4"))
    [call] = history(log, RenderTarget("native", "kimi_k2"))[1].calls
    assert call.id == "functions.f:0"


def test_words_behind_results_stay_where_a_program_sent_them() -> None:
    log = (user(), said("", ONE), result(ONE), user("go on"))
    assert history(log, RenderTarget("native", words_after_results=True)) == log
    assert history(log, RenderTarget("native", one_call=True, words_after_results=True)) == log
    for target in (NATIVE, RenderTarget("native", "mistral", words_after_results=True)):
        assert history(log, target)[3] == ChatMessage(Role.ASSISTANT, BROKEN_OFF)


def test_neighbours_become_one() -> None:
    log = (user("a"), user("b"), said("x"), said("y", ONE), result(ONE), said("  "), user("c"))
    assert history(log, NATIVE) == (
        user("a\n\nb"),
        said("x\n\ny", ONE),
        result(ONE),
        ChatMessage(Role.ASSISTANT, BROKEN_OFF),
        user("c"),
    )


def test_thinking_belongs_to_the_running_turn() -> None:
    log = (user(), said("a", thinking="old"), user(), said("", "1", thinking="new"), result("1"))
    assert [message.thinking for message in history(log, NATIVE)] == ["", "", "", "new", ""]
    assert [message.thinking for message in history(log, HERMES)] == ["", "", "", "new", ""]
    assert not any(message.thinking for message in history(log, WORDS))


def test_a_reminder_behind_results_begins_no_turn() -> None:
    """Claude Code and others send one after nearly every result: models that think between calls need all of it."""
    log = (user(), said("a", thinking="old"), user(), said("", "1", thinking="one"), result("1"), user("<r>x</r>"))
    more = (*log, said("", "2", thinking="two"), result("2"), user("<r>y</r>"))
    programs = RenderTarget("native", words_after_results=True)
    assert [message.thinking for message in history(log, programs) if message.thinking] == ["one"]
    assert [message.thinking for message in history(more, programs) if message.thinking] == ["one", "two"]
    assert [message.thinking for message in history(more, NATIVE) if message.thinking] == []


def test_for_a_model_without_tools_calls_are_told_in_words() -> None:
    log = (user(), said("Let me see.", "1"), result("1", "42"), said("It is 42."), user("sure?"))
    assert history(log, WORDS) == (
        user(),
        said('Let me see.\n\nI used the tool f with {"x": "1"}.'),
        user("Result of the tool f:\n42"),
        said("It is 42."),
        user("sure?"),
    )


def test_a_swap_between_a_call_and_its_result() -> None:  # F7
    log = (user(), said("", "1"), user("go on without"))
    assert history(log, WORDS)[1:] == (
        said('I used the tool f with {"x": "1"}.'),
        user(f"Result of the tool f:\n{INTERRUPTED}\n\ngo on without"),
    )


def test_in_text_the_results_of_several_calls_are_one_message() -> None:  # F7
    log = (user(), said("Let me see.", "1", "2"), result("2", "second"), result("1", "first"), user("and?"))
    asked, handed_back = history(log, HERMES)[1:]
    assert asked.content.startswith("Let me see.\n\n") and not asked.calls
    assert handed_back.role is Role.USER and handed_back.content.endswith("\n\nand?")
    assert handed_back.content.index("first") < handed_back.content.index("second")


def test_where_one_call_is_all_a_message_may_hold_each_has_its_own() -> None:
    log = (user(), said("both", ONE, TWO), result(ONE, "one"), result(TWO, "two"), user("and?"))
    rendered = history(log, RenderTarget("native", one_call=True))
    assert rendered == (
        user(),
        said("both", ONE),
        result(ONE, "one"),
        said("", TWO),
        result(TWO, "two"),
        ChatMessage(Role.ASSISTANT, BROKEN_OFF),
        user("and?"),
    )


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("read file!", "read_file_"),
        ("", "unknown"),
        ("a" * 99, "a" * 64),
        ("mcp__" + "a" * 99, "mcp__" + "a" * 99),
        ("ok-1_b", "ok-1_b"),
    ],
)
def test_a_made_up_name_cannot_spoil_the_history(name: str, sent: str) -> None:
    log = (user(), ChatMessage(Role.ASSISTANT, calls=(ToolCall(ONE, name, {}),)), result(ONE, "There is no such tool."))
    asked, told = history(log, NATIVE)[1:]
    assert (asked.calls[0].name, told.name) == (sent, sent)


@pytest.mark.parametrize("log", [(), (user(" "),), (said(),), (said("", ONE),)])
def test_a_conversation_begins_with_a_person(log: tuple[ChatMessage, ...]) -> None:
    assert history((ChatMessage(Role.SYSTEM, "s"), *log), NATIVE)[:2] == (
        ChatMessage(Role.SYSTEM, "s"),
        user(BEGINNING),
    )


def test_an_unknown_target() -> None:
    with pytest.raises(KeyError):
        history((user(),), RenderTarget("telepathy"))


IDS = st.sampled_from(["1", "2", "call_0", "functions.f:0", "functions.f:1", "a.b", "x" * 70, "abcdef123", "", "é"])
NAMES = st.sampled_from(["f", "read_file", "web search", ""])
ARGUMENTS = st.dictionaries(st.sampled_from(["x", "y"]), st.one_of(st.integers(), st.text(max_size=3)), max_size=2)
CALLS = st.lists(st.builds(ToolCall, IDS, NAMES, ARGUMENTS), max_size=3).map(tuple)
IMAGES = st.sampled_from([(), (), (b"\x89PNG",)])
# Whatever rows can hold: also what no turn of today writes.
LOGS = st.lists(
    st.one_of(
        st.builds(ChatMessage, st.just(Role.SYSTEM), st.sampled_from(["s", ""])),
        st.builds(ChatMessage, st.just(Role.NOTICE), st.sampled_from(["noticed", "notice"])),
        st.builds(ChatMessage, st.just(Role.USER), st.sampled_from(["u", "", "\n"]), images=IMAGES),
        st.builds(ChatMessage, st.just(Role.ASSISTANT), st.sampled_from(["a", "", " "]), st.just("t"), CALLS),
        st.builds(
            lambda id_, name, images: ChatMessage(Role.TOOL, "r", call_id=id_, name=name, images=images),
            IDS,
            NAMES,
            IMAGES,
        ),
    ),
    max_size=14,
)
TARGETS = st.one_of(
    st.builds(
        lambda family, programs: RenderTarget(
            "native",
            family,
            one_call=family == "llama3_json",
            words_after_results=programs,
            images_in_results=not programs,
        ),
        st.sampled_from(sorted(strict_servers.NATIVE)),
        st.booleans(),
    ),
    st.sampled_from(["", *FORMATS]).map(RenderTarget),
)


def refusal(log: list[ChatMessage], target: RenderTarget) -> str:
    """Why the strictest server of a target would not take the log as it is rendered for it, or ""."""
    native = target.format == "native"
    check = strict_servers.NATIVE[target.call_format] if native else strict_servers.alternating
    rendered = history(log, target)
    shown = strict_servers.openai_images if native and not (target.images_in_results or target.needs_answer) else None
    return strict_servers.refusal(rendered, check) or (strict_servers.refusal(rendered, shown) if shown else "")


@given(LOGS, TARGETS)
def test_no_server_refuses_any_log(log: list[ChatMessage], target: RenderTarget) -> None:  # F7
    assert refusal(log, target) == ""


@given(LOGS, st.lists(st.tuples(TARGETS, LOGS), min_size=1, max_size=4))
def test_no_server_refuses_a_log_after_any_swaps(
    log: list[ChatMessage], swaps: list[tuple[RenderTarget, list[ChatMessage]]]
) -> None:
    """The log grows, each time for another model, and may be cut between a call and its result."""
    for target, grown in swaps:
        log = [*log, *grown]
        assert refusal(log, target) == ""


@given(LOGS, st.data())
def test_no_server_refuses_a_stop_anywhere(log: list[ChatMessage], data: st.DataObject) -> None:
    cut = log[: data.draw(st.integers(0, len(log)))]
    target = data.draw(TARGETS)
    assert refusal([*cut, user("go on")], target) == ""


@given(LOGS, TARGETS)
def test_every_call_is_told_once(log: list[ChatMessage], target: RenderTarget) -> None:
    calls = [call for message in log for call in message.calls]
    rendered = history(log, target)
    if target.format == "native":
        told = [call for message in rendered for call in message.calls]
        assert [call.arguments for call in told] == [call.arguments for call in calls]
    elif not target.format:
        text = "\n".join(message.content for message in rendered if message.role is Role.ASSISTANT)
        assert text.count("I used the tool") == len(calls)
        assert all(json.dumps(call.arguments, ensure_ascii=False) in text for call in calls)


@given(LOGS, TARGETS)
def test_nothing_for_people_only_gets_through_and_no_words_are_lost(
    log: list[ChatMessage], target: RenderTarget
) -> None:
    texts = "\n".join(message.content for message in history(log, target))
    assert "notice" not in texts
    for role, word in ((Role.USER, "u"), (Role.ASSISTANT, "a"), (Role.SYSTEM, "s")):
        wanted = sum(message.role is role and message.content == word for message in log)
        assert len(re.findall(rf"^{word}$", texts, re.M)) == wanted


@given(LOGS, TARGETS.filter(lambda target: target.format not in FORMATS))
def test_rendering_twice_changes_nothing_more(log: list[ChatMessage], target: RenderTarget) -> None:
    once = history(log, target)
    assert history(once, target) == once


@given(LOGS, TARGETS)
def test_what_was_rendered_once_stays_when_the_log_grows(log: list[ChatMessage], target: RenderTarget) -> None:
    """Servers keep what they have read: a new round must not change what stood before the latest question."""
    whole = [*log, user("first")]
    before = history(whole, target)
    after = history([*whole, said("answer")], target)
    assert after[: len(before)] == before


# The marks are tokens of their own in many models: shown beforehand, they look like a result that is already there.
@every("name", sorted(FORMATS))
def test_instructions_show_no_mark_of_a_result(name: str) -> None:
    look = ToolSpec("look", "Looks.", {"type": "object", "properties": {}})
    marks = re.findall(r"<[^<>]+>|\[/?[A-Z_]+\]", FORMATS[name].write_results([result(ONE)]))
    assert [mark for mark in marks if mark in FORMATS[name].instructions([look])] == []


# A program decides how long its conversation is; each of these cost the square of its length.
ROWS = {
    "questions": lambda number: [user("word " * 40)],
    "calls with results": lambda number: [said("", str(number)), result(str(number))],
    "calls of one id": lambda number: [said("", "1")],
}


@every("kind", sorted(ROWS))
def test_a_long_conversation_costs_no_more_for_each_message(kind: str) -> None:  # S1
    logs = {length: [one for number in range(length) for one in ROWS[kind](number)] for length in (500, 10_000)}
    assert grows_no_faster(lambda length: history(logs[length], NATIVE), 500, 10_000, times=2)

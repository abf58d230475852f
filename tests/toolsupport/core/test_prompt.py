"""What a model gets to read: the system text, the options, and a history no strict template would refuse."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsupport.core.prompt import history, options, system
from toolsupport.core.prompt.instructions import WITH_TOOLS, WITHOUT_TOOLS
from toolsupport.core.prompt.rendering import BROKEN_OFF, INTERRUPTED, TARGETS
from toolsupport.core.words import Brief, Capabilities, Exclusion, Message, Role, ToolCall, ToolSpec

NOTHING_KNOWN = Capabilities({})
TOOL = ToolSpec("f")


def brief(**given: object) -> Brief:
    return Brief(**({"model": "m", "capabilities": NOTHING_KNOWN} | given))  # type: ignore[arg-type]


def excluded(rule: str) -> tuple[Exclusion, ...]:
    return (Exclusion("f", rule, "because"),)


@pytest.mark.parametrize(
    ("given_brief", "text"),
    [
        (brief(), ""),
        (brief(system=" Be kind. "), "Be kind."),
        (brief(tools=(TOOL,), format="native"), WITH_TOOLS),
        (brief(tools=(TOOL,), format="native", system="Be kind."), f"Be kind.\n\n{WITH_TOOLS}"),
        (brief(excluded=excluded("unsupported")), WITHOUT_TOOLS),
        (brief(excluded=excluded("unknown")), WITHOUT_TOOLS),
        (brief(excluded=excluded("refused")), WITHOUT_TOOLS),
        (brief(excluded=excluded("disabled")), ""),
        (brief(excluded=excluded("tools_off")), ""),
        (brief(tools=(TOOL,), format="native", excluded=excluded("max_tools")), WITH_TOOLS),
    ],
)
def test_system_text(given_brief: Brief, text: str) -> None:
    assert system(given_brief) == text


@pytest.mark.parametrize(
    ("given_brief", "expected"),
    [
        (brief(), {"num_ctx": 8192}),
        (brief(tools=(TOOL,), format="native"), {"num_ctx": 8192, "temperature": 0.3}),
        (brief(tools=(TOOL,), format="native", options={"temperature": 0.0}), {"num_ctx": 8192, "temperature": 0.0}),
        (brief(options={"num_ctx": 4096, "seed": 1}), {"num_ctx": 4096, "seed": 1}),
    ],
)
def test_options(given_brief: Brief, expected: dict) -> None:
    assert options(given_brief) == expected


def user(text: str = "u") -> Message:
    return Message(Role.USER, text)


def said(text: str = "a", *ids: str, thinking: str = "") -> Message:
    return Message(Role.ASSISTANT, text, thinking, tuple(ToolCall(id_, "f", {"x": id_}) for id_ in ids))


def result(id_: str, text: str = "r") -> Message:
    return Message(Role.TOOL, text, call_id=id_, name="f")


def test_a_whole_tool_turn_is_left_alone() -> None:
    log = (Message(Role.SYSTEM, "s"), user(), said("", "1", "2"), result("1"), result("2"), said("done"))
    assert history(log, "native") == log


def test_notices_are_for_people() -> None:
    log = (user("one"), Message(Role.NOTICE, "Switched to m."), said())
    assert history(log, "native") == history(log, "none") == (user("one"), said())


def test_results_come_in_the_order_of_their_calls() -> None:
    log = (user(), said("", "1", "2"), result("2", "second"), Message(Role.NOTICE, "!"), result("1", "first"))
    assert [message.content for message in history(log, "native")[2:]] == ["first", "second"]


def test_a_call_without_a_result_gets_one() -> None:
    log = (user(), said("", "1", "2"), result("1"), user("go on"))
    assert history(log, "native")[2:] == (
        result("1"),
        result("2", INTERRUPTED),
        Message(Role.ASSISTANT, BROKEN_OFF),
        user("go on"),
    )


def test_a_result_without_a_call_is_left_out() -> None:
    log = (user(), result("9"), said(), result("9"), user())
    assert history(log, "native") == (user(), said(), user())


def test_a_second_result_is_left_out() -> None:
    log = (user(), said("", "1"), result("1", "first"), result("1", "again"))
    assert history(log, "native")[2:] == (result("1", "first"),)


def test_the_same_id_in_two_rounds() -> None:
    log = (user(), said("", "call_0"), result("call_0", "one"), said("", "call_0"), result("call_0", "two"))
    rendered = history(log, "native")
    assert [message.calls[0].id for message in rendered if message.calls] == ["call_0", "call_0_2"]
    assert [(message.call_id, message.content) for message in rendered if message.role is Role.TOOL] == [
        ("call_0", "one"),
        ("call_0_2", "two"),
    ]


def test_neighbours_become_one() -> None:
    log = (user("a"), user("b"), said("x"), said("y", "1"), result("1"), said("  "), user("c"))
    assert history(log, "native") == (
        user("a\n\nb"),
        said("x\n\ny", "1"),
        result("1"),
        Message(Role.ASSISTANT, BROKEN_OFF),
        user("c"),
    )


def test_thinking_belongs_to_the_running_turn() -> None:
    log = (user(), said("a", thinking="old"), user(), said("", "1", thinking="new"), result("1"))
    assert [message.thinking for message in history(log, "native")] == ["", "", "", "new", ""]
    assert not any(message.thinking for message in history(log, "none"))


def test_for_a_model_without_tools_calls_are_told_in_words() -> None:
    log = (user(), said("Let me see.", "1"), result("1", "42"), said("It is 42."), user("sure?"))
    assert history(log, "none") == (
        user(),
        said('Let me see.\n\nI used the tool f with {"x": "1"}.'),
        user("Result of the tool f:\n42"),
        said("It is 42."),
        user("sure?"),
    )


def test_a_swap_between_a_call_and_its_result() -> None:
    log = (user(), said("", "1"), user("go on without"))
    assert history(log, "none")[1:] == (
        said('I used the tool f with {"x": "1"}.'),
        user(f"Result of the tool f:\n{INTERRUPTED}\n\ngo on without"),
    )


def test_an_unknown_target() -> None:
    with pytest.raises(KeyError):
        history((user(),), "telepathy")


IDS = st.sampled_from(["1", "2", "3", ""])
CALLS = st.lists(IDS, max_size=3)
LOGS = st.lists(
    st.one_of(
        st.builds(lambda text: Message(Role.SYSTEM, text), st.sampled_from(["s", ""])),
        st.builds(lambda text: Message(Role.NOTICE, f"notice{text}"), st.sampled_from(["n", ""])),
        st.builds(user, st.sampled_from(["u", ""])),
        st.builds(lambda text, ids: said(text, *ids, thinking="t"), st.sampled_from(["a", "", " "]), CALLS),
        st.builds(result, IDS),
    ),
    max_size=14,
)
LETTERS = {Role.SYSTEM: "S", Role.USER: "U", Role.ASSISTANT: "A", Role.TOOL: "T", Role.NOTICE: "N"}


@given(LOGS, st.sampled_from(sorted(TARGETS)))
def test_no_order_that_a_strict_template_refuses(log: list[Message], target: str) -> None:
    rendered = history(log, target)
    roles = "".join("C" if message.calls else LETTERS[message.role] for message in rendered)
    assert re.fullmatch(r"S?[AUCT]*", roles)
    assert "UU" not in roles and "AA" not in roles and "TU" not in roles and "AC" not in roles
    assert re.search(r"(^|[SUA])T", roles) is None
    if target == "none":
        assert "C" not in roles and "T" not in roles


@given(LOGS)
def test_every_call_has_exactly_one_result(log: list[Message]) -> None:
    rendered = list(history(log, "native"))
    ids: list[str] = []
    while rendered:
        message = rendered.pop(0)
        asked = [call.id for call in message.calls]
        results = [rendered.pop(0) for _ in asked]
        assert [(answer.role, answer.call_id) for answer in results] == [(Role.TOOL, id_) for id_ in asked]
        assert message.role is not Role.TOOL
        ids += asked
    assert len(set(ids)) == len(ids) and all(ids)
    assert len(ids) == sum(len(message.calls) for message in log)


@given(LOGS, st.sampled_from(sorted(TARGETS)))
def test_nothing_for_people_only_gets_through_and_no_words_are_lost(log: list[Message], target: str) -> None:
    texts = "\n".join(message.content for message in history(log, target))
    assert "notice" not in texts
    for role, word in ((Role.USER, "u"), (Role.ASSISTANT, "a"), (Role.SYSTEM, "s")):
        wanted = sum(message.role is role and message.content == word for message in log)
        assert len(re.findall(rf"^{word}$", texts, re.M)) == wanted


@given(LOGS, st.sampled_from(sorted(TARGETS)))
def test_rendering_twice_changes_nothing_more(log: list[Message], target: str) -> None:
    once = history(log, target)
    assert history(once, target) == once

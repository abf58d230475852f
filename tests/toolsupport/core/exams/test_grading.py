"""Grades: right and wrong calls, and those that an inattentive grader would accept."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from tests.tables import every
from toolsupport.core.exams import exam_report
from toolsupport.core.exams.builtin import CASES, SUITES
from toolsupport.core.exams.cases import AnswerRule, ExamCase, ExpectedCall
from toolsupport.core.exams.grading import CODES, CaseReply, grade
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolSpec

BY_ID = {case.id: case for case in CASES}


def calls(*made: tuple[str, dict[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(f"c{place}", name, arguments) for place, (name, arguments) in enumerate(made))


def expected_of(case: ExamCase) -> tuple[ToolCall, ...]:
    return calls(*((call.name, call.arguments) for call in case.expected))


def answer_of(case: ExamCase) -> str:
    return " ".join(["Here it is:", *(words[0] for words in case.answer.contains)])


@every("group", sorted({case.group for case in CASES}))
def test_the_expected_calls_of_each_case_are_right(group: str) -> None:
    for case in (case for case in CASES if case.group == group):
        made = expected_of(case)
        assert grade(case, CaseReply(made, len(made), text=answer_of(case))).code == "right", case.id


# One of each group (and more): a wrong reply that looks right at a glance → its grade.
TRAPS = [
    ("single_9", [("translate_text", {"text": "Where is the station", "language": "it"})], "right"),
    (
        "single_12",
        [("book_table", {"restaurant": "Chez Anna", "people": "4", "date": "2026-12-05", "time": "19:30"})],
        "wrong_argument",
    ),
    ("single_7", [("set_alarm", {"time": "06:15"}), ("set_alarm", {"time": "06:15"})], "further_call"),
    ("choice_6", [("check_stock", {"sku": "KET-88", "shop": "main"})], "wrong_argument"),
    ("choice_5", [("check_stock", {"symbol": "IBM"})], "wrong_tool"),
    ("types_2", [("store_code", {"code": 7734})], "wrong_argument"),
    ("types_4", [("switch_light", {"room": "hall", "on": 0})], "wrong_argument"),
    ("types_5", [("set_scores", {"player": "Nia", "scores": [12, 7, 9]})], "wrong_argument"),
    ("types_9", [("record_reading", {"meter": "G-2", "value": -3.5})], "wrong_argument"),
    ("nested_2", [("tag_page", {"page": "Start", "tags": '["new", "blue"]'})], "wrong_argument"),
    (
        "nested_8",
        [
            (
                "place_order",
                {
                    "items": [{"sku": "TEA-9", "quantity": 6}],
                    "address": {"street": "12 Harbour Street", "city": "Cork"},
                },
            )
        ],
        "wrong_argument",
    ),
    (
        "parallel_7",
        [("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Cairo"})],
        "wrong_argument",
    ),
    ("parallel_10", [("complete_task", {"task_id": 3})], "missing_call"),
    (
        "turns_1",
        [("open_door", {"door": "main", "code": "K7-4410"}), ("get_access_code", {"building": "North"})],
        "wrong_order",
    ),
    (
        "turns_9",
        [("get_weather", {"city": "Nice"}), ("set_thermostat", {"room": "bedroom", "degrees": 20})],
        "further_call",
    ),
    ("irrelevant_3", [("get_weather", {"city": "Paris"})], "called_for_nothing"),
    ("missing_4", [("get_customer", {"email": "old@example.com"})], "called_for_nothing"),
    ("history_4", [("check_stock", {"sku": "TEA-99"})], "wrong_argument"),
    ("reasoning_8", [("pay_bill", {"bill_id": "R-77", "amount": 120})], "wrong_argument"),
]


@every(("case", "made", "code"), TRAPS)
def test_a_reply_that_looks_right(case: str, made: list[tuple[str, dict[str, Any]]], code: str) -> None:
    found = grade(BY_ID[case], CaseReply(calls(*made), len(made), text=answer_of(BY_ID[case])))
    assert found.code == code
    assert (found.right is True) == (code == "right")


def test_every_group_has_a_trap() -> None:
    assert {BY_ID[case].group for case, _, code in TRAPS if code != "right"} == {case.group for case in CASES}


TOOL = ToolSpec(
    "note",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string"}, "copies": {"type": "integer", "default": 1}},
    },
)


def a_case(*expected: ExpectedCall, **more: Any) -> ExamCase:
    return ExamCase("a", (ChatMessage(Role.USER, "Note it."),), (TOOL,), expected, **more)


@every(
    ("made", "right"),
    [
        ({"text": "Owl"}, True),
        ({"text": " owl. "}, True),
        ({"text": "Owl", "copies": 1}, True),  # the default of the schema
        ({"text": "Owl", "copies": 1.0}, True),
        ({"text": "Owl", "copies": 2}, False),
        ({"text": "Owl", "copies": True}, False),
        ({"text": "Owl", "copies": "1"}, False),
        ({"text": "Owl", "copies": None}, False),
        ({"text": "Owls"}, False),
        ({}, False),
        ({"copies": 1}, False),
        ({"text": ["Owl"]}, False),
    ],
)
def test_one_argument(made: dict[str, Any], right: bool) -> None:
    case = a_case(ExpectedCall("note", {"text": "owl"}))
    assert grade(case, CaseReply(calls(("note", made)), 1, text="Done")).right is right


def test_calls_are_paired_so_that_as_many_as_possible_fit() -> None:
    """The first call fits both expected ones, the second only the first: taking calls in turn would lose one."""
    wide = ExpectedCall("note", {"text": "a"}, {"text": ["b"]})
    narrow = ExpectedCall("note", {"text": "b"})
    for expected in ((wide, narrow), (narrow, wide)):
        made = calls(("note", {"text": "b"}), ("note", {"text": "a"}))
        assert grade(a_case(*expected), CaseReply(made, 2, text="Done")).right is True


def test_the_order_counts_only_where_it_is_exact() -> None:
    chance = random.Random(3)
    expected = [ExpectedCall("note", {"text": str(number)}) for number in range(6)]
    made = [("note", {"text": str(number)}) for number in range(6)]
    chance.shuffle(made)
    reply = CaseReply(calls(*made), 6, text="Done")
    assert grade(a_case(*expected), reply).code == "right"
    assert grade(a_case(*expected, order="exact"), reply).code == "wrong_order"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (CaseReply(text=""), "no_answer"),
        (CaseReply(text="It is Lisbon."), "right"),
        (CaseReply(text="It is Porto."), "wrong_answer"),
        (CaseReply(text="Lisbon or Madrid."), "wrong_answer"),
        (CaseReply(unusable=("No tool nope.",)), "unreadable"),
        (CaseReply(calls(("note", {"text": "x"})), 1, ended=False), "called_for_nothing"),
    ],
)
def test_a_case_without_calls(reply: CaseReply, code: str) -> None:
    case = a_case(answer=AnswerRule((("Lisbon", "Lisboa"),), ("Madrid",)))
    assert grade(case, reply).code == code


def test_calls_one_by_one_are_wrong_where_all_are_wanted_at_once() -> None:
    case = replace(a_case(*(ExpectedCall("note", {"text": text}) for text in "ab")), together=True)
    made = calls(("note", {"text": "a"}), ("note", {"text": "b"}))
    assert grade(case, CaseReply(made, 1, text="Done")).code == "one_by_one"
    assert grade(case, CaseReply(made, 2, text="Done")).code == "right"


def test_every_grade_has_a_sentence_whose_facts_it_may_lack() -> None:
    assert set(exam_report.SENTENCES) == set(CODES)
    assert all("{" not in exam_report.sentence(code, {}) for code in CODES)
    assert exam_report.sentence("wrong_argument", {"tool": "t", "argument": "a", "made": 3, "expected": "x" * 900}) == (
        f"t: the argument a was 3; {'x' * 200}… was expected."
    )


def test_the_suites() -> None:
    assert len(SUITES["full"].cases) == 120
    assert len({case.group for case in CASES}) == 10
    assert {case.group for case in SUITES["quick"].cases} == {case.group for case in CASES}

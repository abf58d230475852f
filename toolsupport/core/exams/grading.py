"""Grades the calls and the answer of a model in one case.

Calls are compared as parsed values (argument_match.py), never as texts. Without an order, each expected call is paired
with one call that was made, so that no call counts twice. A repeated call is a further call, and wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from toolsupport.core.exams.argument_match import normalised, plain, wrong_argument
from toolsupport.core.exams.cases import ExamCase, ExpectedCall
from toolsupport.core.types import JSON, ToolCall

# Code of a grade → right, wrong, or None if it shows nothing about the model.
CODES: dict[str, bool | None] = {
    "right": True,
    "no_call": False,
    "called_for_nothing": False,
    "wrong_tool": False,
    "wrong_argument": False,
    "missing_call": False,
    "further_call": False,
    "wrong_order": False,
    "one_by_one": False,
    "wrong_answer": False,
    "no_answer": False,
    "unreadable": False,
    "endless": False,
    "not_swapped": None,
    "cut": None,
    "timeout": None,
    "refused": None,
    "failed": None,
}


@dataclass(frozen=True, slots=True)
class CaseGrade:
    """The grade of one trial: a key of CODES with the facts that its sentence needs."""

    code: str
    facts: JSON = field(default_factory=dict)

    @property
    def right(self) -> bool | None:
        return CODES[self.code]


@dataclass(frozen=True, slots=True)
class CaseReply:
    """The replies in one trial: the calls in order, the unusable ones, and the last text.

    `first` is how many of the calls were in the first reply with calls; `ended`: the last reply had none.
    """

    calls: tuple[ToolCall, ...] = ()
    first: int = 0
    unusable: tuple[str, ...] = ()
    text: str = ""
    ended: bool = True


def grade(case: ExamCase, reply: CaseReply) -> CaseGrade:
    """Grade one trial."""
    if reply.unusable:
        return CaseGrade("unreadable", {"reason": reply.unusable[0]})
    if found := _calls(case, reply.calls):
        return found
    if case.together and reply.first < len(case.expected):
        return CaseGrade("one_by_one", {"first": reply.first, "expected": len(case.expected)})
    if not reply.ended:
        return CaseGrade("endless")
    return _answer(case, reply.text)


def all_right(case: ExamCase, made: Sequence[ToolCall]) -> bool:
    """Return whether each of these calls is an expected one; others may be missing."""
    return bool(made) and len(_pairs(case, made)) == len(made)


def _calls(case: ExamCase, made: Sequence[ToolCall]) -> CaseGrade | None:
    """Return the fault of the calls, None if there is none."""
    if not case.expected:
        return CaseGrade("called_for_nothing", {"tool": made[0].name}) if made else None
    if not made:
        return CaseGrade("no_call", {"tool": case.expected[0].name})
    pairs = _pairs(case, made)
    if len(pairs) == len(case.expected) == len(made):
        in_order = pairs == {place: place for place in range(len(made))}
        return CaseGrade("wrong_order") if case.order == "exact" and not in_order else None
    return _difference(case, made, pairs)


def _difference(case: ExamCase, made: Sequence[ToolCall], pairs: dict[int, int]) -> CaseGrade:
    """Explain the first expected call without a pair, else the first further call."""
    left = [call for place, call in enumerate(made) if place not in pairs.values()]
    for place, wanted in enumerate(case.expected):
        if place in pairs:
            continue
        same_tool = next((call for call in left if call.name == wanted.name), None)
        if same_tool is not None:
            argument = _wrong_argument(case, replace(same_tool, arguments=normalised(same_tool.arguments)), wanted)
            facts = {"tool": wanted.name, "argument": argument, "expected": wanted.arguments.get(argument)}
            return CaseGrade("wrong_argument", facts | {"made": same_tool.arguments.get(argument)})
        if left:
            return CaseGrade("wrong_tool", {"tool": left[0].name, "expected": wanted.name})
        return CaseGrade("missing_call", {"tool": wanted.name})
    return CaseGrade("further_call", {"tool": left[0].name})


def _pairs(case: ExamCase, made: Sequence[ToolCall]) -> dict[int, int]:
    """Return expected call → call that was made, as many as possible (augmenting paths); the nearest order first."""
    made = [replace(call, arguments=normalised(call.arguments)) for call in made]
    fits = [
        sorted(
            (
                at
                for at, call in enumerate(made)
                if call.name == wanted.name and not _wrong_argument(case, call, wanted)
            ),
            key=lambda at, place=place: abs(at - place),  # type: ignore[misc]
        )
        for place, wanted in enumerate(case.expected)
    ]
    taken: dict[int, int] = {}

    def place_one(place: int, seen: set[int]) -> bool:
        for at in fits[place]:
            if at in seen:
                continue
            seen.add(at)
            if at not in taken or place_one(taken[at], seen):
                taken[at] = place
                return True
        return False

    for place in range(len(case.expected)):
        place_one(place, set())
    return {place: at for at, place in taken.items()}


def _wrong_argument(case: ExamCase, made: ToolCall, expected: ExpectedCall) -> str:
    tool = next(tool for tool in case.tools if tool.name == expected.name)
    return wrong_argument(made.arguments, expected, tool)


def _answer(case: ExamCase, text: str) -> CaseGrade:
    words = plain(text)
    if not words:
        return CaseGrade("no_answer")
    for choices in case.answer.contains:
        if not any(plain(choice) in words for choice in choices):
            return CaseGrade("wrong_answer", {"missing": choices[0]})
    found = next((choice for choice in case.answer.without if plain(choice) in words), "")
    return CaseGrade("wrong_answer", {"found": found}) if found else CaseGrade("right")

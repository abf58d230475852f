"""Writes the cases of the built-in exam in few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolsupport.core.exams.builtin.tools import TOOLS
from toolsupport.core.exams.cases import AnswerRule, ExamCase, ExpectedCall, RecordedResult
from toolsupport.core.types import JSON, ChatMessage, Role, ToolCall

DONE = "ok"


def call(
    name: str, accepts: Mapping[str, list[Any]] | None = None, /, optional: str = "", **arguments: Any
) -> ExpectedCall:
    """Expect a call; `accepts` has further right values, `optional` the names that may be left out."""
    return ExpectedCall(name, arguments, accepts or {}, frozenset(optional.split()))


def result(name: str, text: str, /, **arguments: Any) -> RecordedResult:
    """Record the result of a call with these arguments, of any call without."""
    return RecordedResult(name, text, arguments or None)


def says(*sets: str | tuple[str, ...], without: tuple[str, ...] = ()) -> AnswerRule:
    """Require one text of each set in the answer."""
    return AnswerRule(tuple((one,) if isinstance(one, str) else one for one in sets), without)


class CaseWriter:
    """Collects the cases of one group; their ids are the group and a number."""

    def __init__(self, group: str, quick: Iterable[int] = (1, 2, 3)) -> None:
        self.group = group
        self.cases: list[ExamCase] = []
        self._quick = frozenset(quick)

    def add(self, tools: str, words: str | tuple[ChatMessage, ...], *expected: ExpectedCall, **more: Any) -> None:
        """Add a case. `tools` are names in TOOLS; `words` is the user's message, or the whole conversation."""
        number = len(self.cases) + 1
        recorded = more.pop("recorded", ()) or tuple(RecordedResult(one.name, DONE) for one in expected)
        self.cases.append(
            ExamCase(
                id=f"{self.group}_{number}",
                messages=(user(words),) if isinstance(words, str) else words,
                tools=tuple(TOOLS[name] for name in tools.split()),
                expected=expected,
                recorded=tuple(recorded),
                group=self.group,
                quick=number in self._quick,
                **more,
            )
        )


def user(text: str) -> ChatMessage:
    return ChatMessage(Role.USER, text)


def assistant(text: str, *calls: ToolCall) -> ChatMessage:
    return ChatMessage(Role.ASSISTANT, text, calls=calls)


def used(number: int, name: str, arguments: JSON, result: str) -> tuple[ChatMessage, ChatMessage]:
    """Return an earlier call with its result, as two messages."""
    made = ToolCall(f"call_{number}", name, arguments)
    return assistant("", made), ChatMessage(Role.TOOL, result, call_id=made.id, name=name)

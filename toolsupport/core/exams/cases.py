"""Defines the cases of an exam, and reads them from JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolsupport.core.errors import ConfigError
from toolsupport.core.types import JSON, ChatMessage, Role, ToolCall, ToolSpec

GROUPS: Mapping[str, str] = {
    "single": "One call",
    "choice": "The right tool of many",
    "types": "Types of arguments",
    "nested": "Nested arguments",
    "parallel": "Several calls at once",
    "turns": "Calls that need earlier results",
    "irrelevant": "No tool is needed",
    "missing": "The tool that is needed is missing",
    "history": "After a long conversation",
    "reasoning": "Arguments that must be worked out",
    "own": "Own cases",
}
MOST_CASES = 2000
MOST_MESSAGES = 400
MOST_TOOLS = 256
MOST_CALLS = 64
MOST_RECORDED = 400
LONGEST_TEXT = 200_000
LONGEST_NAME = 120
ORDERS = ("any", "exact")


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that the case expects.

    `accepts` has further right values by argument; arguments in `optional` may be left out.
    """

    name: str
    arguments: JSON = field(default_factory=dict)
    accepts: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()

    def to_json(self) -> JSON:
        more: JSON = {"accepts": {name: list(values) for name, values in self.accepts.items()}} if self.accepts else {}
        return {"name": self.name, "arguments": self.arguments} | more | _listed("optional", self.optional)


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """The result that a call of this tool gets; `arguments` None answers any call of it."""

    name: str
    result: str
    arguments: JSON | None = None

    def to_json(self) -> JSON:
        return {"name": self.name, "arguments": self.arguments, "result": self.result}


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """What the final text must hold: one text of each set in `contains`, none of `without`. Case does not matter."""

    contains: tuple[tuple[str, ...], ...] = ()
    without: tuple[str, ...] = ()

    def to_json(self) -> JSON:
        return {"contains": [list(words) for words in self.contains], "without": list(self.without)}


@dataclass(frozen=True, slots=True)
class ExamCase:
    """One case: a conversation, the offered tools, and the calls that are right. No expected call: none may be made.

    `together`: all expected calls must be in one reply.
    """

    id: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...]
    expected: tuple[ExpectedCall, ...] = ()
    recorded: tuple[RecordedResult, ...] = ()
    order: str = "any"
    group: str = "own"
    quick: bool = False
    together: bool = False
    answer: AnswerRule = AnswerRule()

    def to_json(self) -> JSON:
        made: JSON = {
            "id": self.id,
            "group": self.group,
            "messages": [_message_json(message) for message in self.messages],
            "tools": [tool.to_openai() for tool in self.tools],
            "recorded": [result.to_json() for result in self.recorded],
            "expected": [call.to_json() for call in self.expected],
            "order": self.order,
        }
        if self.together:
            made["together"] = True
        return made | ({"answer": self.answer.to_json()} if self.answer != AnswerRule() else {})


@dataclass(frozen=True, slots=True)
class ExamSuite:
    """A named set of cases."""

    name: str
    cases: tuple[ExamCase, ...]

    def to_json(self) -> JSON:
        return {"name": self.name, "cases": [case.to_json() for case in self.cases]}


def read_suite(value: object) -> ExamSuite:
    """Read `{"name", "cases": [case, …]}`. Raises ConfigError that names the case and the field."""
    suite = _object(value, "The exam")
    name = _text(suite, "name", "The exam", LONGEST_NAME).strip()
    if not name:
        raise ConfigError("The exam needs a name.")
    listed = _list(suite, "cases", "The exam", MOST_CASES)
    cases = tuple(read_case(case, f"Case {place}") for place, case in enumerate(listed, 1))
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise ConfigError(f"Two cases have the id “{case.id}”.")
        seen.add(case.id)
    return ExamSuite(name, cases)


def read_case(value: object, where: str = "The case") -> ExamCase:
    """Read one case. Raises ConfigError."""
    case = _object(value, where)
    name = _text(case, "id", where, LONGEST_NAME)
    if not name.strip():
        raise ConfigError(f"{where} needs an id.")
    if not name.isprintable():
        raise ConfigError(f"{where} has an id with a character that cannot be shown.")
    where = f"Case “{name}”"
    tools = tuple(_tool(tool, at) for at, tool in _numbered(case, "tools", where, MOST_TOOLS))
    messages = tuple(_message(one, at) for at, one in _numbered(case, "messages", where, MOST_MESSAGES))
    if not any(message.role is Role.USER for message in messages):
        raise ConfigError(f"{where} needs a message of a user.")
    expected = tuple(_expected(call, at) for at, call in _numbered(case, "expected", where, MOST_CALLS))
    offered = {tool.name for tool in tools}
    unknown = next((call.name for call in expected if call.name not in offered), "")
    if unknown:
        raise ConfigError(f"{where} expects a call of “{unknown}”, which is not among its tools.")
    return ExamCase(
        id=name,
        messages=messages,
        tools=tools,
        expected=expected,
        recorded=tuple(_recorded(one, at) for at, one in _numbered(case, "recorded", where, MOST_RECORDED)),
        order=_one_of(case, "order", where, ORDERS),
        group=_one_of(case, "group", where, ("own", *GROUPS)),
        together=case.get("together") is True,
        answer=_answer(case.get("answer"), where),
    )


def _tool(value: object, where: str) -> ToolSpec:
    given = _object(value, where)
    function = _object(given.get("function", given), f"{where}: the function")
    _object(function.get("parameters") or {}, f"{where}: the parameters of a tool")
    try:
        return ToolSpec.from_openai(given)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}.") from error


def _message(value: object, where: str) -> ChatMessage:
    given = _object(value, where)
    role = _one_of(given, "role", where, ("user", "system", "assistant", "tool"))
    calls = tuple(_call(call, at) for at, call in _numbered(given, "calls", where, MOST_CALLS))
    return ChatMessage(
        Role(role),
        _text(given, "content", where, LONGEST_TEXT),
        calls=calls,
        call_id=_text(given, "call_id", where, LONGEST_NAME),
        name=_text(given, "name", where, LONGEST_NAME),
    )


def _call(value: object, where: str) -> ToolCall:
    given = _object(value, where)
    name, made_id = (_text(given, field_name, where, LONGEST_NAME) for field_name in ("name", "id"))
    return ToolCall(made_id, name, _object(given.get("arguments", {}), f"{where}: the arguments of a call"))


def _expected(value: object, where: str) -> ExpectedCall:
    given = _object(value, where)
    accepts = _object(given.get("accepts", {}), f"{where}: accepts")
    if not all(isinstance(values, list) for values in accepts.values()):
        raise ConfigError(f"{where}: “accepts” must have a list of values for each argument.")
    return ExpectedCall(
        name=_text(given, "name", where, LONGEST_NAME),
        arguments=_object(given.get("arguments", {}), f"{where}: the arguments of an expected call"),
        accepts=accepts,
        optional=frozenset(map(str, _list(given, "optional", where, MOST_CALLS))),
    )


def _recorded(value: object, where: str) -> RecordedResult:
    given = _object(value, where)
    arguments = given.get("arguments")
    return RecordedResult(
        name=_text(given, "name", where, LONGEST_NAME),
        result=_text(given, "result", where, LONGEST_TEXT),
        arguments=None if arguments is None else _object(arguments, f"{where}: the arguments of a recorded result"),
    )


def _answer(value: object, where: str) -> AnswerRule:
    if value is None:
        return AnswerRule()
    given = _object(value, f"{where}: the rule for the answer")
    sets = _list(given, "contains", where, MOST_CALLS)
    contains = tuple(tuple(map(str, one if isinstance(one, list) else [one])) for one in sets)
    return AnswerRule(contains, tuple(map(str, _list(given, "without", where, MOST_CALLS))))


def _object(value: object, what: str) -> JSON:
    if not isinstance(value, dict):
        raise ConfigError(f"{what} must be a JSON object.")
    return value


def _list(given: JSON, name: str, where: str, most: int) -> list[Any]:
    value = given.get(name, [])
    if not isinstance(value, list):
        raise ConfigError(f"{where}: “{name}” must be a list.")
    if len(value) > most:
        raise ConfigError(f"{where}: “{name}” has {len(value):,} entries; the maximum is {most:,}.")
    return value


# What one entry of each list is called in an error.
ENTRIES = {
    "tools": "tool",
    "messages": "message",
    "calls": "call",
    "expected": "expected call",
    "recorded": "recorded result",
}


def _numbered(given: JSON, name: str, where: str, most: int) -> list[tuple[str, Any]]:
    """Return the entries of a list, each with its place for errors."""
    return [(f"{where}, {ENTRIES[name]} {n}", one) for n, one in enumerate(_list(given, name, where, most), 1)]


def _text(given: JSON, name: str, where: str, most: int) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise ConfigError(f"{where}: “{name}” must be a text.")
    if len(value) > most:
        raise ConfigError(f"{where}: “{name}” has {len(value):,} characters; the maximum is {most:,}.")
    return value


def _one_of(given: JSON, name: str, where: str, allowed: Sequence[str]) -> str:
    """Return the value of a field with fixed values; the first one is the default."""
    value = given.get(name, allowed[0])
    if value not in allowed:
        raise ConfigError(f"{where}: “{name}” must be one of {', '.join(dict.fromkeys(allowed))}.")
    return str(value)


def _message_json(message: ChatMessage) -> JSON:
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    made: JSON = {"role": message.role.value, "content": message.content}
    extra: JSON = {"calls": calls, "call_id": message.call_id, "name": message.name}
    return made | {name: value for name, value in extra.items() if value}


def _listed(name: str, values: frozenset[str]) -> JSON:
    return {name: sorted(values)} if values else {}

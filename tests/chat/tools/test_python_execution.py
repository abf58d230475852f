"""The tool `python_execution`: its result, the calls its programs make, and what travels between them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.tools import policy, python_execution
from chat.tools.python_execution import TOOL, checked_call, functions, resume, run
from chat.tools.sandbox.json_values import LARGEST
from chat.tools.sandbox.program_steps import FunctionCall
from chat.tools.tool import Pause, PausedCallResult, ToolContext
from toolsupport.core.errors import ToolError
from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.types import ToolCall, ToolResult, ToolSpec

pytestmark = pytest.mark.asyncio
LOOK = ToolSpec(
    "look",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "deep": {"type": "boolean"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)
ANY = ToolSpec("server__keep-this", parameters={"type": "object", "properties": {"value": {}}, "required": ["value"]})


@pytest.fixture
def able(context: ToolContext) -> ToolContext:
    return replace(context, functions=(LOOK, ANY))


async def ended(context: ToolContext, code: str, *answers: PausedCallResult) -> ToolResult:
    """The result of a program whose calls get these answers."""
    step = await run(context, {"code": code})
    for answer in answers:
        assert isinstance(step, Pause), step
        step = await resume(context, step.state, answer)
    assert isinstance(step, ToolResult)
    return step


# T3
@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("print('a')\nprint('b')", "a\nb\n"),
        ("6 * 7", "42"),
        ("print('a')\n'b'", "a\nb"),
        ("print('a', end='')\n{'b': [1, None, True]}", 'a\n{"b": [1, null, true]}'),
        ("x = 1", "[The program printed nothing, and its last line has no value.]"),
        ("import datetime\n{1: datetime.date(2025, 3, 1)}", '{"1": "2025-03-01"}'),
        ("x = [1]\nfor i in range(60): x = [x, x]\nx", "[The value of the last line is not shown: it has more than"),
        ("10 ** 5000", "a number of 16,610 bits"),
        ("float('inf')", "inf"),
        ("'\\ud800'", "\ufffd"),
    ],
)
async def test_the_result_is_what_was_printed_and_the_last_value(able: ToolContext, code: str, content: str) -> None:
    result = await ended(able, code)
    assert result.content.startswith(content) and not result.is_error
    json.dumps(result.content, ensure_ascii=False).encode()


async def test_an_error_is_told_whole_after_what_was_printed(able: ToolContext) -> None:
    result = await ended(able, "print('so far')\nclass A(int): pass")
    assert result.is_error
    assert "does not yet support class inheritance" in result.content
    result = await ended(able, "def f():\n  return {}['gone']\nprint('so far')\nf()")
    assert result.content.startswith("so far\nTraceback") and result.content.endswith("KeyError: gone")


@pytest.mark.parametrize("code", ["", " \n"])
async def test_without_code_there_is_nothing_to_run(able: ToolContext, code: str) -> None:
    with pytest.raises(ToolError, match="no code"):
        await run(able, {"code": code})


async def test_what_is_printed_is_cut_across_all_steps(able: ToolContext) -> None:
    narrow = replace(able, text_bytes=10)
    result = await ended(narrow, "print('12345')\nlook('a')\nprint('67890')\n'end'", PausedCallResult("done", "x"))
    assert result.content == "12345\n6789\n[Cut here: the program printed more than is kept.]\nend"


# T9
@pytest.mark.parametrize("call", ["look('a', True)", "look('a', deep=True)", "look(deep=True, path='a')"])
async def test_arguments_take_the_names_of_the_schema(able: ToolContext, call: str) -> None:
    step = await run(able, {"code": call})
    assert isinstance(step, Pause) and isinstance(step.asked, CallReady)
    assert (step.asked.call.name, step.asked.call.arguments) == ("look", {"path": "a", "deep": True})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("look()", '"path" is a required property'),
        ("look(None)", "is not of type"),
        ("look('a', b=1)", "'b' was unexpected"),
        ("look('a', path='b')", "'path' was given twice"),
        ("look('a', True, 3)", "it takes 2 by place, 3 were given"),
        ("look({1, 2})", "a value of type set"),
        ("look(path={1: 2})", "keys must be text"),
        ("look('a', float('nan'))", "JSON has no nan"),
        ("look(10 ** 30)", "more than 63 bits"),
        ("x = []\nfor _ in range(99): x = [x]\nlook(x)", "nested more than"),
        ("look('x' * 2_000_000)", "more than 1,048,576 characters"),
    ],
)
async def test_a_call_that_does_not_fit_is_rejected_and_caught(able: ToolContext, call: str, words: str) -> None:
    lines = call.replace("\n", "\n  ")
    code = f"try:\n  {lines}\nexcept TypeError as error:\n  seen = str(error)\nseen"
    step = await run(able, {"code": code})
    assert isinstance(step, Pause) and isinstance(step.asked, CallRejected)
    assert words in step.asked.reason
    after = await resume(able, step.state, PausedCallResult("rejected", step.asked.reason))
    assert isinstance(after, ToolResult) and after.content == step.asked.reason


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        ("failed", "RuntimeError"),
        ("stopped", "RuntimeError"),
        ("denied", "PermissionError"),
        ("timeout", "TimeoutError"),
    ],
)
async def test_how_a_call_ended_is_an_exception(able: ToolContext, status: str, raised: str) -> None:
    code = f"try:\n  look('a')\nexcept {raised} as error:\n  seen = str(error)\nseen"
    assert (await ended(able, code, PausedCallResult(status, "the words"))).content == "the words"
    assert (await ended(able, "look('a')", PausedCallResult(status, "the words"))).content.endswith(
        f"{raised}: the words"
    )


async def test_a_tool_whose_name_is_no_name_in_python_is_written_with_underscores(able: ToolContext) -> None:
    assert set(functions(able)) == {"look", "server__keep_this"}
    step = await run(able, {"code": "server__keep_this({'a': (1, 2)})"})
    assert isinstance(step, Pause) and isinstance(step.asked, CallReady)
    assert step.asked.call.arguments == {"value": {"a": [1, 2]}}


@pytest.mark.parametrize(
    ("names", "called"),
    [
        (("box__a-b", "box__a_b"), {"box__a_b": "box__a_b"}),
        (("box__a_b", "box__a-b"), {"box__a_b": "box__a_b"}),
        (("box__a-b", "box__a.b", "box__c-d"), {"box__c_d": "box__c-d"}),
    ],
)
async def test_tools_that_would_be_called_alike_are_never_mistaken(
    able: ToolContext, names: tuple[str, ...], called: dict[str, str]
) -> None:
    known = functions(replace(able, functions=tuple(ToolSpec(name) for name in names)))
    assert {name: spec.name for name, spec in known.items()} == called


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSON, answer=st.text())
async def test_values_travel_out_and_in_as_json(able: ToolContext, value: Any, answer: str) -> None:
    code = f"import json\nserver__keep_this(json.loads({json.dumps(value)!r}))"
    step = await run(able, {"code": code})
    assert isinstance(step, Pause) and isinstance(step.asked, CallReady)
    assert step.asked.call.arguments == {"value": value}
    given_back = answer.encode("utf-8", "replace").decode()
    result = await resume(able, step.state, PausedCallResult("done", given_back))
    assert isinstance(result, ToolResult) and result.content == (
        given_back.replace("\0", "\ufffd") or python_execution.SILENT
    )


async def test_the_time_of_a_program_is_one_for_all_its_steps(able: ToolContext) -> None:
    step = await run(able, {"code": "look('a')\nwhile True: pass"})
    assert isinstance(step, Pause)
    head, _, rest = step.state.partition(b"\n")
    left = json.loads(head)
    assert 0 < left["seconds"] < 5
    short = json.dumps(left | {"seconds": 0.1}).encode() + b"\n" + rest
    stopped = await resume(able, short, PausedCallResult("done", "x"))
    assert isinstance(stopped, ToolResult) and "time limit exceeded" in stopped.content


async def test_code_is_asked_about_whole_and_each_time(able: ToolContext) -> None:
    code = "print(1)\n" * 500
    assert TOOL.preview is not None and TOOL.preview(able, {"code": code}).code == code
    assert policy.verdict(TOOL, frozenset({"python_execution"}), False) is policy.CallDecision.ASK
    outcome = await policy.run(ToolCall("1", "python_execution", {"code": "1"}), able)
    assert outcome.status == "denied"
    allowed = await policy.run(ToolCall("1", "python_execution", {"code": "look('a')"}), able, approved=True)
    assert allowed.status == "paused" and allowed.pause is not None


async def test_it_works_here_and_says_so() -> None:
    assert TOOL.missing == ""


async def test_each_call_has_an_id_of_its_own() -> None:
    made = {checked_call(FunctionCall("look", ("a",)), {"look": LOOK}).call.id for _ in range(50)}  # type: ignore[union-attr]
    assert len(made) == 50


async def test_the_self_test_runs_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    tested = python_execution.needs
    assert tested() == ""
    monkeypatch.setenv("MONTY_BIN", "/nowhere/monty")
    assert tested().startswith("The sandbox for Python does not start (")
    monkeypatch.setattr(python_execution, "SANDBOX", "chat.no_such_module")
    assert tested() == "The sandbox for Python does not start (exit code 1)."
    monkeypatch.setattr(python_execution, "PATIENCE", 0.001)
    assert tested() == "The sandbox for Python does not start (TimeoutExpired)."

"""Every schema of a reply compiles for constrained decoding, and blocks no right answer (llguidance)."""

from __future__ import annotations

import json

import pytest

from tests.forced.grammar import Compiled, compiled
from tests.forced.tool_sets import ToolSet, tool_sets
from toolsupport.core.constrained import CALLS, SchemaRules, call_schema, closed
from toolsupport.core.types import JSON

BY_DAY, BY_NIGHT = 60, 2170
ANSWER = 'Grüß "dich"\n\t\\ 💡 </tool_call> {"tool": 1}'


def written(value: JSON) -> tuple[str, str]:
    """The JSON as models write it: with spaces, and without."""
    return json.dumps(value, ensure_ascii=False), json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def blocked(grammar: Compiled, replies: list[JSON]) -> list[tuple[int, str]]:
    texts = [text for reply in replies for text in written(reply)]
    return [(at, text) for text in texts if (at := grammar.blocked_at(text)) >= 0]


def faults(made: ToolSet) -> list[str]:
    """Return what is wrong with the schemas for a set of tools."""
    called = [{"tool": name, "arguments": arguments} for name, arguments in made.calls]
    free, forced, several = (
        compiled(call_schema(made.tools)),
        compiled(call_schema(made.tools, answer=False)),
        compiled(call_schema(made.tools, parallel=True)),
    )
    strict = compiled(closed(call_schema(made.tools, parallel=True)))
    plain = compiled(call_schema(made.tools, rules=SchemaRules(plain=True)))
    found = [grammar.error for grammar in (free, forced, several, strict, plain) if grammar.error]
    found += [f"{text} at {at}" for at, text in blocked(plain, [*called, {"answer": ANSWER}])]
    found += [f"{text} at {at}" for at, text in blocked(free, [*called, {"answer": ANSWER}])]
    found += [f"{text} at {at}" for at, text in blocked(forced, called)]
    found += [f"{text} at {at}" for at, text in blocked(several, [*called, {CALLS: called[:8]}, {"answer": ANSWER}])]
    noise = ["", "[]", '{"tool": "no_such_tool", "arguments": {}}', '{"arguments": {}}', "Hello", '{"answer": 7}']
    return found + [f"admitted: {text}" for text in noise if free.blocked_at(text) < 0 or plain.blocked_at(text) < 0]


def all_faults(count: int) -> list[str]:
    return [fault for made in tool_sets(count) for fault in faults(made)]


def test_each_schema_compiles_and_blocks_no_right_answer() -> None:  # K2
    assert all_faults(BY_DAY) == []


@pytest.mark.nightly
def test_all_of_them_do() -> None:  # K2
    assert all_faults(BY_NIGHT) == []


def test_a_call_without_an_answer_is_forced() -> None:  # K4
    [made] = tool_sets(1)
    assert compiled(call_schema(made.tools, answer=False)).blocked_at('{"answer": "x"}') >= 0


def test_a_grammar_that_does_not_compile_is_seen() -> None:
    assert compiled({"type": "string", "pattern": "("}).error

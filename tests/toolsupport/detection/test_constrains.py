"""Whether a server enforces a schema: the evidence of one reply, and the verdict from several."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import jsonschema_rs
import pytest

from tests.forced.grammar import compiled
from tests.tables import every
from toolsupport.core.events import Event, Failed, Finished, TextDelta
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.side_findings import (
    NESTED,
    ODD,
    PATTERN,
    PLAIN,
    SEVERAL,
    SHAPES,
    constrains,
    constrains_settled,
    next_shape,
    of_server,
)
from toolsupport.detection.constrains import forbidden_constant, judged
from toolsupport.detection.probe_reply import ProbeReply
from toolsupport.simulator.fitting.fitting import fitted

ASKED = forbidden_constant(random.Random(1), SEVERAL)
RIGHT = {"tool": ASKED.tool, "arguments": {"code": ASKED.demanded, "count": 3}}
ECHO = {"tool": ASKED.tool, "arguments": {"code": ASKED.asked, "count": 3}}


def with_mark(mark: str) -> str:
    return json.dumps({**RIGHT, "arguments": {"code": ASKED.demanded, "count": 3, "mark": mark}})


def reply(*events: Event) -> ProbeReply:
    made = ProbeReply(budget=100)
    for event in events:
        made.take(event)
    return made


@every(
    ("events", "code"),
    [
        ([TextDelta(json.dumps(RIGHT)), Finished("stop")], "right"),
        ([TextDelta(json.dumps({"reply": {"calls": [RIGHT]}})), Finished("stop")], "right"),
        ([TextDelta(f" {json.dumps({'calls': [RIGHT, RIGHT]}, indent=1)}\n"), Finished("stop")], "right"),
        ([TextDelta(json.dumps(ECHO)), Finished("stop")], "unenforced"),
        ([TextDelta(json.dumps({"code": ASKED.asked})), Finished("stop")], "unenforced"),
        ([TextDelta(json.dumps({"calls": [RIGHT, ECHO]})), Finished("stop")], "unenforced"),
        ([TextDelta('{"calls": []}'), Finished("stop")], "unenforced"),
        ([TextDelta('{"reply": {"calls": []}}'), Finished("stop")], "proves_nothing"),
        ([TextDelta('{"reply": {"calls": [5]}}'), Finished("stop")], "unenforced"),
        ([TextDelta("I cannot do that"), Finished("length")], "unenforced"),
        ([TextDelta(json.dumps(RIGHT)[:-9]), Finished("length")], "cut"),
        ([Finished("stop")], "no_word"),
        ([Failed("refused", "No.", 400, '{"error": "unknown field"}')], "refused"),
        ([Failed("server", "No.", 500, '{"error": "failed to parse grammar"}')], "refused"),
        ([Failed("server", "No.", 500, "out of memory")], "failed"),
        ([Failed("timeout", "Late.")], "timeout"),
    ],
)
def test_what_a_reply_shows(events: list[Event], code: str) -> None:  # K1
    assert judged(reply(*events), ASKED)[0] == code


def test_the_demanded_code_stands_in_the_schema_alone() -> None:  # K1
    seen = set()
    for number in range(50):
        asked = forbidden_constant(random.Random(number), (PLAIN, SEVERAL)[number % 2])
        words = asked.messages[0].content
        assert asked.demanded not in words and asked.tool not in words and asked.asked in words
        allows = jsonschema_rs.validator_for(asked.schema).is_valid
        arguments = {"code": asked.demanded, "count": 1}
        assert allows({"tool": asked.tool, "arguments": arguments})
        assert not allows({"tool": asked.tool, "arguments": arguments | {"code": asked.asked}})
        seen.add(asked.demanded)
    assert len(seen) == 50


@every(
    ("codes", "value", "settled"),
    [
        ("", "", False),
        ("right right", "", False),
        ("right right right", "enforced", False),
        ("right right right right right", "enforced", True),
        ("right cut right right pattern_dropped right", "enforced", True),
        ("right right right right unenforced", "accepted", True),
        ("right right right unenforced", "accepted", True),
        ("unenforced", "", False),
        ("unenforced unenforced", "accepted", True),
        ("right right unenforced", "accepted", True),
        ("refused", "", False),
        ("refused refused", "refused", True),
        ("refused right right right", "", False),
        ("timeout cut no_word", "", True),
    ],
)
def test_what_several_replies_prove(codes: str, value: str, settled: bool) -> None:  # K1
    outcomes: list[TrialOutcome] = []
    for code in codes.split():
        outcomes.append(TrialOutcome("constrains", code, subject=next_shape(outcomes)))
    assert (constrains(outcomes), constrains_settled(outcomes)) == (value, settled)


@pytest.mark.parametrize(
    ("code", "found"),
    [("right", True), ("pattern_dropped", False), ("timeout", None)],
)
def test_patterns_are_a_finding_of_their_own(code: str, found: bool | None) -> None:  # K1
    codes = {PATTERN: code}
    outcomes = [TrialOutcome("constrains", codes.get(shape, "right"), subject=shape) for shape in SHAPES]
    values = of_server(outcomes)
    assert (values["constrains"], values.get("constrains_patterns")) == ("enforced", found)


@pytest.mark.parametrize(
    ("shape", "reply_", "code"),
    [
        (PATTERN, [TextDelta(with_mark("QX123")), Finished("stop")], "right"),
        (PATTERN, [TextDelta(with_mark("qx")), Finished("stop")], "pattern_dropped"),
        (PATTERN, [Failed("refused", "No.", 400, '{"error": "pattern"}')], "pattern_dropped"),
        (ODD, [TextDelta(with_mark("qx")), Finished("stop")], "right"),
        (ODD, [Failed("refused", "No.", 400, '{"error": "failed to parse grammar"}')], "right"),
        (ODD, [TextDelta("I would rather talk."), Finished("stop")], "unenforced"),
        (NESTED, [TextDelta("I would rather talk."), Finished("stop")], "unenforced"),
    ],
)
def test_a_schema_that_a_server_may_not_read(shape: str, reply_: list[Event], code: str) -> None:  # K1
    asked = replace(ASKED, shape=shape, mark="QX")
    assert judged(reply(*reply_), asked)[0] == code


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_is_one_that_enforcing_servers_can_follow(shape: str) -> None:  # K1
    asked = forbidden_constant(random.Random(5), shape)
    text = fitted(asked.schema, None, random.Random(5))
    assert asked.met_by(text) and (shape != PATTERN or asked.keeps_pattern(text))
    assert bool(compiled(asked.schema).error) == (shape == ODD)


def test_the_nested_schema_refers_to_itself() -> None:
    schema = forbidden_constant(random.Random(1), NESTED).schema
    validator = jsonschema_rs.validator_for(schema)
    asked = forbidden_constant(random.Random(1), NESTED)
    tree = {"name": "a", "value": 1, "inner": [{"name": "b", "value": {"of": None}}]}
    for inner, fits in ((tree, True), (tree | {"inner": [{"name": "b"}]}, False)):
        call = {"tool": asked.tool, "arguments": {"code": asked.demanded, "count": 3, "tree": inner}}
        assert validator.is_valid({"calls": [call]}) is fits

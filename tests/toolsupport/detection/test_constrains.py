"""Whether a server enforces a schema: what a reply shows, and what several of them prove."""

from __future__ import annotations

import json
import random

import jsonschema_rs
import pytest

from toolsupport.core.events import Event, Failed, Finished, TextDelta
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.side_findings import constrains, constrains_settled
from toolsupport.detection.constrains import forbidden_constant, judged
from toolsupport.detection.probe_reply import ProbeReply

ASKED = forbidden_constant(random.Random(1), several=True)
RIGHT = {"tool": ASKED.tool, "arguments": {"code": ASKED.demanded, "count": 3}}
ECHO = {"tool": ASKED.tool, "arguments": {"code": ASKED.asked, "count": 3}}


def reply(*events: Event) -> ProbeReply:
    made = ProbeReply(budget=100)
    for event in events:
        made.take(event)
    return made


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([TextDelta(json.dumps(RIGHT)), Finished("stop")], "right"),
        ([TextDelta(f" {json.dumps({'calls': [RIGHT, RIGHT]}, indent=1)}\n"), Finished("stop")], "right"),
        ([TextDelta(json.dumps(ECHO)), Finished("stop")], "unenforced"),
        ([TextDelta(json.dumps({"code": ASKED.asked})), Finished("stop")], "unenforced"),
        ([TextDelta(json.dumps({"calls": [RIGHT, ECHO]})), Finished("stop")], "unenforced"),
        ([TextDelta('{"calls": []}'), Finished("stop")], "unenforced"),
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
        asked = forbidden_constant(random.Random(number), several=bool(number % 2))
        words = asked.messages[0].content
        assert asked.demanded not in words and asked.tool not in words and asked.asked in words
        allows = jsonschema_rs.validator_for(asked.schema).is_valid
        arguments = {"code": asked.demanded, "count": 1}
        assert allows({"tool": asked.tool, "arguments": arguments})
        assert not allows({"tool": asked.tool, "arguments": arguments | {"code": asked.asked}})
        seen.add(asked.demanded)
    assert len(seen) == 50


@pytest.mark.parametrize(
    ("codes", "value", "settled"),
    [
        ("", "", False),
        ("right right", "", False),
        ("right right right", "enforced", True),
        ("right cut right right", "enforced", True),
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
    outcomes = [TrialOutcome("constrains", code) for code in codes.split()]
    assert (constrains(outcomes), constrains_settled(outcomes)) == (value, settled)

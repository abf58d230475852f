"""A model without a family that writes calls in a form of its own is recognised, against its instructions."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

import pytest

from tests.toolsupport.detection.test_silent_servers import server
from toolsupport.core.formats import FORMATS, parser
from toolsupport.core.types import Capabilities, RequestSpec, ToolCall
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.calls_in_code import calls_in
from toolsupport.detection.probe_prompts import TICKET, TOOLS
from toolsupport.detection.probe_run import StepProgress, examine
from toolsupport.detection.text_formats import GENERAL, formats_for, written_in

WISH = re.compile(r'with ticket "([A-Z0-9-]+)" and copies (\d+)')
CALL = 'lookup_ticket(ticket="{}", copies={})'
REFUSED = b'{"error":"registry.ollama.ai/library/some:1b does not support tools"}'
JSON_CALL = '{{"name": "lookup_ticket", "arguments": {{"ticket": "{}", "copies": {}}}}}'

# What a model writes for a call, whatever format it was asked for; {} are the ticket and the copies.
WRITTEN = {
    "a plain line of Python": CALL,
    "a line behind a sentence": f"Sure, I will look it up.\n\n{CALL}",
    "values without names": 'lookup_ticket("{}", {})',
    "a fence": f"```python\n{CALL}\n```",
    "a fence behind prose": f"I will call it:\n```python\n{CALL}\n```",
    "a fence of JSON": f"```json\n{JSON_CALL}\n```",
    "marks that no general format has": f"<|tool_call|>[{JSON_CALL}]",
}
PROGRAMS = {
    "a program that prints": f"```python\nprint({CALL})\n```",
    "a program with a name for the result": f"```python\nseat = {CALL}\nprint(seat)\n```",
    "Gemma's tool code": f"```tool_code\nprint(default_api.{CALL})\n```",
}


async def tried(write: Callable[[str, int], str], refuses: bool, runs_code: bool = False) -> tuple[Verdict, int]:
    """(verdict, number of trials) of a model that writes all its calls like this."""
    made: list[ProbeTrial] = []

    async def keep(trial: ProbeTrial) -> None:
        made.append(trial)

    async def tell(step: StepProgress) -> None: ...

    def answer(_: int, raw: bytes) -> tuple[int, bytes]:
        body = json.loads(raw)
        if "messages" not in body:
            return 404, b"{}"
        if refuses and body.get("tools"):
            return 400, REFUSED
        wanted = WISH.search(next(said["content"] for said in reversed(body["messages"]) if said["role"] == "user"))
        text = write(wanted[1], int(wanted[2])) if wanted else "Hello."
        end = {"message": {"role": "assistant", "content": text}, "done": True, "done_reason": "stop"}
        return 200, json.dumps(end).encode() + b"\n"

    async with server(answer) as endpoint:
        subject = ProbeTarget(endpoint, RequestSpec("some:1b", Capabilities({})), formats_for(()), runs_code=runs_code)
        verdict = await examine(ProbeRunner(subject, keep, random.Random(1)), "tools", tell, lambda step: False)
    return verdict, len(made)


def filled(pattern: str) -> Callable[[str, int], str]:
    return lambda ticket, copies: pattern.format(ticket, copies)


@pytest.mark.asyncio
@pytest.mark.parametrize("refuses", [True, False])
@pytest.mark.parametrize("name", WRITTEN)
async def test_it_is_found_as_text(name: str, refuses: bool) -> None:  # D6
    verdict, _ = await tried(filled(WRITTEN[name]), refuses)
    assert (verdict.name, verdict.values["tools"]) == ("text", False), verdict
    reader = parser(verdict.values["format"], TOOLS)
    text = WRITTEN[name].format("K7F-3XDP", 4)
    assert "K7F-3XDP" in str([*reader.feed(text), *reader.flush()])


@pytest.mark.asyncio
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("auto", "code_mode", "forced_json")])
async def test_every_format_is_found_without_a_family(name: str) -> None:  # D6
    def write(ticket: str, copies: int) -> str:
        return FORMATS[name].write_calls([ToolCall("1", "lookup_ticket", {"ticket": ticket, "copies": copies})])

    verdict, trials = await tried(write, refuses=True)
    assert verdict.name == "text", verdict
    assert (
        trials <= 14
    )  # of which six are refused, and two try a schema; what it wrote for the first format leads to its own


@pytest.mark.asyncio
@pytest.mark.parametrize("name", PROGRAMS)
async def test_programs_count_where_they_may_run(name: str) -> None:  # D6, F2
    found, _ = await tried(filled(PROGRAMS[name]), refuses=True, runs_code=True)
    assert (found.name, found.values["format"]) == ("text", "code_mode")
    closed, _ = await tried(filled(PROGRAMS[name]), refuses=True)
    assert closed.values.get("format") != "code_mode"


@pytest.mark.asyncio
async def test_prose_is_no_format() -> None:
    verdict, trials = await tried(filled("I cannot look up tickets, {}, nor {} copies."), refuses=False)
    assert verdict.name == "ignored"
    assert trials <= 14 + 2 * len(GENERAL)


def test_what_was_written_names_the_formats_that_read_it() -> None:
    assert "pythonic" in written_in(CALL.format("K7F-3XDP", 4))
    assert written_in("I would use lookup_ticket for that.") == ()
    assert written_in("") == ()
    program = "print({})\nseat = {}".format(CALL.format("K7F-3XDP", 4), CALL.format("K7F-3XDP", 4))
    assert written_in(f"```python\n{program}\n```") == ("code_mode",), "a program is no list of calls"


CODE = {
    "lookup_ticket(ticket='A', copies=2)": [{"ticket": "A", "copies": 2}],
    "lookup_ticket('A', 2)": [{"ticket": "A", "copies": 2}],
    "x = api.lookup_ticket('A', copies=2)\nprint(x)": [{"ticket": "A", "copies": 2}],
    "lookup_ticket(ticket=name, copies=2)": [{"copies": 2}],
    "list_rooms('A')": [],
    "lookup_ticket(": [],
    "": [],
    "\0": [],
    "(" * 5000: [],
}


@pytest.mark.parametrize("code", CODE, ids=range(len(CODE)))
def test_programs_are_read_and_never_run(code: str) -> None:
    assert [call.arguments for call in calls_in(code, TICKET)] == CODE[code]

"""Calls that change something run where words announce them, in replies to a person; see decision 031."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.databases import ROOT
from tests.tables import every
from tests.toolsupport.core.formats.replies import calls, read
from tests.toolsupport.core.formats.test_example_cues import FORMATS, made
from toolsupport.core.expected_reply import circumstances
from toolsupport.core.formats import FORMATS as ALL
from toolsupport.core.formats.announced_calls import Circumstances, only_reads
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolSpec

FRAMES = ROOT / "tests/toolsupport/core/formats"
ROWS = [json.loads(line) for line in (FRAMES / "frames_by_announcement.jsonl").read_text().splitlines()]
# Sentences about what was found: models write them behind results.
CONTINUED = [
    *(
        row["continued"]
        for row in map(json.loads, (FRAMES / "frames_by_intent.jsonl").read_text().splitlines())
        if "continued" in row
    ),
    "Here is my plan:\n\nThe weather first, then the file.\n\n@",
    "He is 5′ 10″ tall.\n@",
    "The output was empty.\n@",
    "The user wants the file to be deleted.\n@",
    "The note is short. @",
]
# What people asked where the rule decides wrongly.
STILL_MADE = {
    "What did the model print?",
    "Ist der Befehl gefährlich?",
    "Correct my syntax.",
    "What's the difference between read and delete?",
    "Create a worksheet for students",
    "What was your first message today?",
    "Why was my account billed?",
    "Was hat der Praktikant gemacht?",
    'Translate to English: "Der Aufruf löscht die Datei."',
}
STILL_ASKED = {"The log is from last year, so it can go.\n@@", "No problem, it's gone in a second.\n@@"}


def answer(name: str, row: dict[str, Any]) -> int:
    """How many calls of a reply to what a person asked are made."""
    call = ToolCall("1", row["tool"], row["arguments"])
    fields = {key: {"type": "string"} for key in row["arguments"]}
    reply = (row.get("shown") or row["meant"]).replace("@@", ALL[name].write_calls([call]))
    log = [ChatMessage(Role.USER, row["asked"])]
    log += [ChatMessage(Role.TOOL, "something", call_id="1")] if row.get("continues") else []
    seen = circumstances(log, lambda _raw: False)
    tools = [ToolSpec(row["tool"], "", {"type": "object", "properties": fields})]
    return len(calls(read(name, [reply], tools=tools, circumstances=seen)))


@pytest.mark.parametrize("name", FORMATS)
@every("row", [row for row in ROWS if "shown" in row and row["asked"] not in STILL_MADE])
def test_a_call_that_an_answer_shows(name: str, row: dict[str, Any]) -> None:  # F3
    assert answer(name, row) == 0


@pytest.mark.parametrize("name", FORMATS)
@every("row", [row for row in ROWS if "meant" in row and row["meant"] not in STILL_ASKED])
def test_a_call_that_an_answer_makes(name: str, row: dict[str, Any]) -> None:  # F3
    assert answer(name, row) == 1


@pytest.mark.parametrize("name", FORMATS)
@every("frame", CONTINUED)
def test_behind_results_a_sentence_about_them_is_enough(name: str, frame: str) -> None:  # F3
    assert made(name, frame, Circumstances(continues=True)) == 1
    assert made(name, frame) == 0


@every(
    "words, tool, count",
    [
        ("Nobody has read this log for a year.\n@", "delete_file", 0),
        ("Nobody has read this log for a year.\n@", "read_file", 1),
        ("The log is old. I'll delete it.\n@", "delete_file", 1),
        ("The log is old. Deleting it.\n@", "delete_file", 1),
        ("Nobody reads it. Deleting it takes a minute or two.\n@", "delete_file", 0),
        ("I deleted the old log yesterday morning.\n@\nNobody complained about it.", "delete_file", 0),
        ("Okay.\n@", "delete_file", 1),
        ("Okay.\n@\nThat is all there is to it.", "delete_file", 0),
        ("@\nThat is all there is to it.", "delete_file", 1),
        ("The old one:\n@\nWhat is left of it:\nnothing", "delete_file", 0),
        ("1. The old one\n   @\n2. Whatever comes next\n", "delete_file", 0),
        ("Look:\n\n1. Install it\n2. @\n3. Whatever comes next\n", "read_file", 0),
        ("**Invocation**\n@\n\n**Returns**\nnothing", "delete_file", 0),
        ("The runner understands\n\n@\n\nwithout a shell.", "delete_file", 0),
        ("I sent it off last night:\n@", "send_mail", 0),
        ("I sent it off last night; now again:\n@", "send_mail", 1),
        ("Imagine that I quote a manual, and it holds a line.\n@", "delete_file", 0),
        ("The nightly job calls @", "read_file", 0),
        ("A: Well?\nB: @", "read_file", 0),
        ("A: @\nB: Neither.", "delete_file", 0),
        ("**B:**\n@", "read_file", 0),
        ("The tool call of test 3 is\n@", "delete_file", 0),
        ("Der Aufruf in Test 3 lautet\n\n@", "read_file", 0),
        ("The next call is\n@", "read_file", 1),
        ("What I call now is\n@", "delete_file", 1),
    ],
)
def test_words_around_a_call(words: str, tool: str, count: int) -> None:  # F3
    row = {
        "tool": tool,
        "arguments": {"path": "a.txt"},
        "asked": "Look after the log.",
        "meant": words.replace("@", "@@"),
    }
    assert [answer(name, row) for name in FORMATS] == [count] * len(FORMATS)


@every(
    "asked, count", [("Delete a.txt", 1), ("Show me a call that deletes a.txt", 0), ("How would you write a call?", 0)]
)
def test_a_call_that_a_person_wants_to_see(asked: str, count: int) -> None:  # F3
    row = {"tool": "delete_file", "arguments": {"path": "a.txt"}, "asked": asked}
    assert answer("hermes", row | {"meant": "@@"}) == count
    assert answer("hermes", row | {"meant": "I'll delete it now.\n@@"}) == 1


@every(
    "name, reads",
    [
        ("read_file", True),
        ("getWeather", True),
        ("mcp__github__list_issues", True),
        ("search_and_replace", False),
        ("delete_file", False),
        ("python_execution", False),
        ("target", False),
    ],
)
def test_the_name_of_a_tool_shows_whether_it_only_reads(name: str, reads: bool) -> None:
    assert only_reads(name) is reads


@pytest.mark.parametrize("name", FORMATS)
@every("labels, count", [(("First Kim:", "Then Bo:"), 2), (("1. Kim", "2. Bo"), 2), (("Kim:", ""), 2)])
def test_words_between_two_calls_lead_to_the_second(name: str, labels: tuple[str, str], count: int) -> None:  # F3
    written = ALL[name].write_calls([ToolCall("1", "send_mail", {"to": "Kim"})])
    reply = "\n".join(part for label in labels for part in (label, written) if part)
    seen = circumstances([ChatMessage(Role.USER, "Mail Kim and Bo")], lambda _raw: False)
    tools = [ToolSpec("send_mail", "", {"type": "object", "properties": {"to": {"type": "string"}}})]
    for pieces in ([reply], list(reply)):
        assert len(calls(read(name, pieces, tools=tools, circumstances=seen))) == count

"""The words of tool calls: the verb by state, what a call acts on, its fact, and the rows of groups."""

from __future__ import annotations

from dataclasses import dataclass

from chat.transcript.messages import call_phrases
from chat.transcript.messages.call_groups import CallGroup, grouped, words
from chat.transcript.messages.present import target
from tests.tables import every

WANTS, NOW, DONE = "pending", "running", "done"

# (tool, arguments, basis of the approval) and its words when it wants, runs, worked, failed and was denied.
TENSES: list[tuple[str, dict[str, object], str, tuple[str, ...]]] = [
    ("read_file", {}, "", ("Wants to read", "Reading", "Read", "Could not read", "Did not read")),
    ("list_directory", {}, "", ("Wants to list", "Listing", "Listed", "Could not list", "Did not list")),
    ("write_file", {}, "no file", ("Wants to create", "Creating", "Created", "Could not create", "Did not create")),
    ("write_file", {}, "0f3a", ("Wants to replace", "Replacing", "Replaced", "Could not replace", "Did not replace")),
    ("write_file", {}, "", ("Wants to write", "Writing", "Wrote", "Could not write", "Did not write")),
    (
        "write_file",
        {"append": True},
        "0f3a",
        ("Wants to add to", "Adding to", "Added to", "Could not add to", "Did not add to"),
    ),
    ("edit_file", {}, "", ("Wants to edit", "Editing", "Edited", "Could not edit", "Did not edit")),
    ("execute_sql", {}, "", ("Wants to query", "Querying", "Queried", "Could not query", "Did not query")),
    ("bash", {}, "", ("Wants to run", "Running", "Ran", "Could not run", "Did not run")),
    ("python_execution", {}, "", ("Wants to run", "Running", "Ran", "Could not run", "Did not run")),
    (
        "memory_dump",
        {},
        "",
        ("Wants to remember", "Remembering", "Remembered", "Could not remember", "Did not remember"),
    ),
    ("weather__get_weather", {}, "", ("Wants to use", "Using", "Used", "Could not use", "Did not use")),
    ("gone", {}, "", ("Wants to use", "Using", "Used", "Could not use", "Did not use")),
]
ALL = ("pending", "running", "done", "failed", "denied")


@every(
    "name, arguments, basis, tenses",
    TENSES,
)
def test_the_verb_has_the_tense_of_the_state(
    name: str, arguments: dict[str, object], basis: str, tenses: tuple[str, ...]
) -> None:
    verb = call_phrases.verb_of(name, arguments, basis)
    assert tuple(call_phrases.in_state(verb, status) for status in ALL) == tenses
    assert call_phrases.in_state(verb, "waiting") == tenses[0]
    assert call_phrases.in_state(verb, "timeout") == tenses[3]
    for status in ("stopped", "interrupted", "rejected"):
        assert call_phrases.in_state(verb, status) == tenses[4]


@every(
    "status, answer, word",
    [
        ("pending", "", "Queued"),
        ("waiting", "", "Needs approval"),
        ("running", "", ""),
        ("done", "once", ""),
        ("failed", "", "Failed"),
        ("timeout", "", "Timed out"),
        ("denied", "deny", "Denied"),
        ("denied", "expired", "Expired"),
        ("denied", "", "Not allowed"),
        ("stopped", "", "Stopped"),
        ("interrupted", "", "Interrupted"),
        ("rejected", "", "Not run"),
    ],
)
def test_each_state_has_a_word_of_its_own(status: str, answer: str, word: str) -> None:
    assert call_phrases.state_word(status, answer) == word


@every(
    "name, arguments, line",
    [
        ("read_file", {"path": "a b.txt"}, "a b.txt"),
        ("list_directory", {"path": "."}, "this folder"),
        ("bash", {"command": "\nls\nrm -r x"}, "ls"),
        ("hot_swap", {"prompts": ["brief", "translator"]}, "brief, translator"),
        ("read_file", {"path": 7}, ""),
        ("read_file", {}, ""),
        ("mail__send", {"to": "x"}, "send of mail"),
        ("gone", {"path": "x"}, "gone"),
        ("", {}, ""),
    ],
)
def test_a_line_names_what_its_call_acts_on(name: str, arguments: dict[str, object], line: str) -> None:
    assert target(name, arguments) == line


@every(
    "name, result, fact",
    [
        ("read_file", "a\nb\n", "2 lines"),
        ("read_file", "a", "1 line"),
        ("read_file", "[The file is empty.]", ""),
        ("read_file", "[1, 2]", "1 line"),
        ("read_file", "a\n\n[Cut here: these are the first 1 KB of 2 KB.]", ""),
        ("list_directory", "src/\na.txt (3 bytes)", "2 entries"),
        ("list_directory", "[The directory is empty.]", "0 entries"),
        ("execute_sql", "a\n1\n\n[1 row.]", "1 row"),
        ("execute_sql", "a\n\n[No rows.]", "0 rows"),
        ("execute_sql", "a\n1\n[The first 1 of 2,000 rows. Count.]", ""),
        ("execute_sql", "a\n1\n[The first 1 of 2000 rows. Count.]", "2,000 rows"),
        ("bash", "a\nb", ""),
    ],
)
def test_a_line_has_the_fact_of_its_result(name: str, result: str, fact: str) -> None:
    assert call_phrases.fact(name, result) == fact


@dataclass(frozen=True)
class OneCall:
    """A call as its group reads it."""

    id: str
    name: str
    status: str = DONE
    answer: str = ""
    duration_ms: int | None = 10


def calls(*names: str) -> list[OneCall]:
    return [OneCall(str(number), name) for number, name in enumerate(names)]


def shape(rows: list[OneCall]) -> list[int]:
    return [len(row.calls) if isinstance(row, CallGroup) else 1 for row in grouped(rows)]


def test_only_consecutive_calls_of_one_tool_are_a_group() -> None:
    read, write = "read_file", "write_file"
    assert shape(calls(read, read, read)) == [3]
    assert shape(calls(read, read)) == [1, 1]
    assert shape(calls(read, read, write, read)) == [1, 1, 1, 1]
    assert shape(calls(write, *[read] * 4, write)) == [1, 4, 1]
    assert shape(calls(*[read] * 3, *[write] * 3)) == [3, 3]
    assert shape(calls("", "", "")) == [1, 1, 1]
    assert shape([]) == []


def many(**counts: int) -> list[tuple[str, str]]:
    """Calls by state; `deny` and `expired` are denied ones with that answer."""
    return [
        ("denied", name) if name in ("deny", "expired") else (name, "")
        for name, count in counts.items()
        for _ in range(count)
    ]


@every(
    "name, states, text",
    [
        ("read_file", many(done=10), "Read 10 files"),
        ("read_file", many(done=8, failed=2), "Read 8 of 10 files · 2 failed"),
        ("read_file", many(failed=3), "Could not read 3 files"),
        ("read_file", many(rejected=8), "Did not read 8 files"),
        ("read_file", many(pending=3), "Wants to read 3 files"),
        ("read_file", many(done=1, running=1, pending=2), "Reading 4 files · 1 done"),
        ("read_file", many(running=1, pending=2), "Reading 3 files"),
        ("read_file", many(done=2, pending=1), "Reading 3 files · 2 done"),
        ("write_file", many(done=1, waiting=1, pending=1), "Writing 3 files · 1 done · 1 needs approval"),
        ("write_file", many(done=1, waiting=2), "Writing 3 files · 1 done · 2 need approval"),
        ("write_file", many(deny=3), "Did not write 3 files · 3 denied"),
        ("write_file", many(done=1, deny=1, expired=1), "Wrote 1 of 3 files · 1 denied · 1 expired"),
        ("bash", many(done=2, timeout=1), "Ran 2 of 3 commands · 1 timed out"),
        ("execute_sql", many(done=3), "Queried 3 times"),
        ("weather__get_weather", many(done=2, failed=1), "Used get_weather of weather 2 of 3 times · 1 failed"),
        ("read_file", many(failed=1, deny=2), "Did not read 3 files · 1 failed · 2 denied"),
    ],
)
def test_a_group_is_one_sentence(name: str, states: list[tuple[str, str]], text: str) -> None:
    assert words(name, states) == text


def test_a_group_opens_when_a_call_failed_or_waits() -> None:
    def opens(*statuses: str) -> bool:
        return CallGroup([OneCall(str(n), "read_file", status) for n, status in enumerate(statuses)]).opens

    assert not opens("done", "done", "done")
    assert not opens("done", "running", "pending")
    assert opens("done", "done", "failed")
    assert opens("done", "waiting", "pending")
    assert opens("denied", "done", "done")

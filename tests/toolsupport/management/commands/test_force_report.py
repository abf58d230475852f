"""A report of free and constrained replies: a table, a file to share, and JSON."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.factories import ModelProfileFactory, ServerFactory
from tests.toolsupport.services.simulator_thread import running_simulator
from toolsupport.core.force_tasks import TASKS, TOOLS, ForceTask, is_right
from toolsupport.services import force_report
from toolsupport.services.force_report import ForceOutcome

pytestmark = pytest.mark.django_db(transaction=True)
EMPTY = '{"answer": ""}'
MISFIT = '{"tool": "get_weather", "arguments": {"city": 7}}'
RIGHT = '{"tool": "get_weather", "arguments": {"city": "Paris", "days": 3}}'
BOTH = f'{{"calls": [{RIGHT}, {MISFIT}]}}'
# What a server sends for a request with a schema: the text, and why it ends there.
SENT: dict[str, tuple[str, str]] = {
    "enforces, and its model answers nothing": (EMPTY, "stop"),
    "enforces, and its model makes one call": (RIGHT, "stop"),
    "ignores the schema": ("Hello there.", "stop"),
    "fails open": (MISFIT, "stop"),
    "fails open in a list": (BOTH, "stop"),
    "thinks in its text": (f"<think>Hm.</think>{EMPTY}", "stop"),
    "is cut": (RIGHT, "length"),
}
# ended, fits, called, accepted, right calls, right answers, each of 12, of 9 and of 3.
COUNTED = {
    "enforces, and its model answers nothing": (12, 12, 0, 0, 0, 0),
    "enforces, and its model makes one call": (12, 12, 12, 12, 1, 0),
    "ignores the schema": (12, 0, 0, 0, 0, 3),
    "fails open": (12, 0, 12, 0, 0, 0),
    "fails open in a list": (12, 0, 12, 0, 0, 0),
    "thinks in its text": (12, 12, 0, 0, 0, 0),
    "is cut": (0, 0, 0, 0, 0, 0),
}
KEYS = ("ended", "fits", "called", "accepted", "calls_right", "answers_without_call")


class ScriptedHandler(BaseHTTPRequestHandler):
    """An OpenAI-compatible server that answers each request with a schema in the same way."""

    sends: tuple[int, bytes]
    odd: tuple[int, bytes]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, data = self.sends if "response_format" in body else (200, streamed("No idea.", "stop"))
        if LOOKAROUND in json.dumps(body):
            status, data = self.odd
        self.send_response(status)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None: ...


def streamed(text: str, reason: str) -> bytes:
    choices = ({"index": 0, "delta": {"content": text}}, {"index": 0, "delta": {}, "finish_reason": reason})
    lines = [json.dumps({"object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


LOOKAROUND = "(?!"
REFUSES_ODD = 400, b'{"error": {"message": "the grammar cannot be parsed"}}'


@contextmanager
def serving(status: int, data: bytes, odd: tuple[int, bytes] = REFUSES_ODD) -> Iterator[str]:
    handler = type("Handler", (ScriptedHandler,), {"sends": (status, data), "odd": odd})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def simulator() -> Iterator[str]:
    with running_simulator() as url:
        yield url


def known(url: str, *names: str, kind: str = "simulator") -> None:
    server = ServerFactory(name="box", kind=kind, base_url=url)
    for name in names:
        ModelProfileFactory(server=server, name=name)


def printed(*arguments: Any) -> str:
    out = io.StringIO()
    call_command("force_report", *arguments, stdout=out)
    return out.getvalue()


def test_a_model_that_malforms_its_calls_gains(simulator: str, tmp_path: Path) -> None:
    known(simulator, "sim-constrained")
    file = tmp_path / "report.json"
    lines = printed("sim-constrained", "--rounds", "1", "--file", file).splitlines()
    report = json.loads(file.read_text())
    free, forced = (report["figures"][way] for way in ("free", "constrained"))
    assert forced["fits"] == forced["ended"] == forced["tasks"] == len(TASKS) and free["fits"] is None
    assert forced["accepted"] == forced["called"] > free["accepted"] == 0
    assert forced["calls_right"] > free["calls_right"] == 0
    assert lines[0] == f"{2 * len(TASKS) // 10 + 1} of {2 * len(TASKS)} requests" and lines[-1] == f"Wrote {file}"
    assert any(line.split()[:2] == ["Right", "calls"] for line in lines) and "\r" not in "".join(lines)
    assert simulator not in file.read_text() and len(report["outcomes"]) == 2 * len(TASKS)


def test_json_is_all_that_is_printed_where_it_is_wanted(simulator: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    known(simulator, "sim-unconstrained")
    report = json.loads(printed("box/sim-unconstrained", "--rounds", "1", "--json"))
    assert report["figures"]["constrained"]["calls_right"] == 0
    assert (report["formats"]["constrained"], report["server_kind"], report["rounds"]) == (
        "forced_json",
        "simulator",
        1,
    )
    assert [*tmp_path.iterdir()] == []


def test_a_server_without_a_field_for_schemas_is_refused_in_words() -> None:
    known("http://127.0.0.1:9", "m", kind="deepseek")
    with pytest.raises(CommandError, match="DeepSeek have no field for a schema"):
        printed("m")


# The texts of the same servers, and what their report concludes.
CONCLUDED = {
    "enforces, and its model makes one call": "Each constrained reply that ended fits its schema.",
    "ignores the schema": "12 of 12 constrained replies do not fit their schema: the server does not enforce it.",
    "is cut": "No constrained reply ended, so they show nothing about the schema.",
}


@pytest.mark.parametrize("name", CONCLUDED)
def test_the_table_ends_with_a_conclusion(name: str, tmp_path: Path) -> None:
    with serving(200, streamed(*SENT[name])) as url:
        known(url, "m", kind="openai")
        lines = printed("m", "--rounds", "1", "--file", tmp_path / "report.json").splitlines()
    assert lines[-2] == CONCLUDED[name]


@pytest.mark.parametrize(
    ("name", "odd", "found"),
    [
        ("enforces, and its model makes one call", REFUSES_ODD, "refused"),
        ("enforces, and its model makes one call", (200, streamed("Hello there.", "stop")), "dropped"),
        ("enforces, and its model makes one call", (503, b"busy"), "unknown"),
        ("ignores the schema", (200, streamed("Hello there.", "stop")), "–"),
    ],
)
def test_a_server_that_drops_what_it_cannot_read_is_told_apart(
    name: str, odd: tuple[int, bytes], found: str, tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    with serving(200, streamed(*SENT[name]), odd) as url:
        known(url, "m", kind="openai")
        lines = printed("m", "--rounds", "1", "--file", file).splitlines()
    [row] = [line for line in lines if line.startswith("A schema few can read")]
    assert row.split()[-1] == found
    assert ("it drops a schema that it cannot read" in lines[-2]) is (found == "dropped")
    kept = json.loads(file.read_text())["figures"]["constrained"]["odd_schema"]
    assert kept == (None if found == "–" else found)


@pytest.mark.parametrize(("model", "found"), [("sim-constrained", "followed"), ("sim-fails-open", "dropped")])
def test_simulated_servers_differ_in_that_too(simulator: str, model: str, found: str) -> None:
    known(simulator, model)
    report = json.loads(printed(model, "--rounds", "1", "--json"))
    assert report["figures"]["constrained"]["odd_schema"] == found


def test_an_unknown_model_and_a_number_out_of_range_are_refused() -> None:
    with pytest.raises(CommandError, match="no model"):
        printed("nobody")
    for wrong in ("0", "51", "x"):
        with pytest.raises(CommandError, match="1 to 50"):
            printed("m", "--rounds", wrong)


def test_only_the_one_right_call_is_right() -> None:
    task = ForceTask("?", "f", {"a": 1})
    assert is_right(task, [("f", {"a": 1})]) and is_right(ForceTask("?"), [])
    for wrong in ([], [("f", {"a": 2})], [("g", {"a": 1})], [("f", {"a": 1})] * 2):
        assert not is_right(task, wrong)
    assert not is_right(ForceTask("?"), [("f", {})])
    assert {task.tool for task in TASKS if task.tool} == {tool.name for tool in TOOLS}


def report_of(status: int, data: bytes) -> Any:
    with serving(status, data) as url:
        known(url, "m", kind="openai")
        return json.loads(printed("m", "--rounds", "1", "--json"))


@pytest.mark.parametrize("name", sorted(SENT))
def test_what_a_server_does_with_a_schema_is_counted(name: str) -> None:
    report = report_of(200, streamed(*SENT[name]))
    constrained, free = report["figures"]["constrained"], report["figures"]["free"]
    assert tuple(constrained[key] for key in KEYS) == COUNTED[name]
    assert tuple(free[key] for key in KEYS) == (12, None, 0, 0, 0, 3) and not constrained["errors"]


def test_the_beginning_of_a_reply_that_does_not_fit_is_kept() -> None:
    report = report_of(200, streamed("Hello " * 100, "stop"))
    assert {one["written"] for one in report["outcomes"] if one["way"] == "constrained"} == {("Hello " * 100)[:200]}
    assert {one["written"] for one in report["outcomes"] if one["way"] == "free"} == {""}


def test_a_reply_of_nothing_at_all_is_an_error() -> None:
    constrained = report_of(200, streamed("", "stop"))["figures"]["constrained"]
    assert (constrained["ended"], constrained["errors"]) == (0, {"empty (200)": 12})


def test_errors_are_counted_without_the_words_of_the_server(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    with serving(400, b'{"error": {"message": "Bad schema at http://10.1.2.3/ with key abc"}}') as url:
        known(url, "m", kind="openai")
        lines = printed("m", "--rounds", "1", "--file", file).splitlines()
    assert "12 × constrained: the server refused the request (other 4xx)" in lines
    assert lines[-2] == "The server refuses each request with a schema, so no reply can be constrained."
    assert json.loads(file.read_text())["figures"]["constrained"]["errors"] == {"refused (400)": 12}
    assert not any(word in file.read_text() for word in (url, "127.0.0.1", "10.1.2.3", "abc"))


def test_figures_without_any_outcome_are_no_division() -> None:
    figures = force_report.figures([])
    assert force_report.conclusion(figures["constrained"]).startswith("No constrained reply ended")
    assert figures["free"]["median_seconds"] is None
    one = ForceOutcome("free", TASKS[0].question, True, None, True, True, True, 2.5)
    assert force_report.figures([one])["free"]["median_tokens"] is None
    assert "unknown" in "".join(force_report.table(figures, {"free": "hermes", "constrained": "forced_json"}))

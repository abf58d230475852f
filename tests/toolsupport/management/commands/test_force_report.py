"""A report of free and constrained replies: a table, a file to share, and JSON."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.core.force_tasks import TASKS, TOOLS, ForceTask, is_right
from toolsupport.services import force_report
from toolsupport.services.force_report import ForceOutcome
from toolsupport.simulator.server import Simulator

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def simulator() -> Iterator[str]:
    """A simulator in a thread of its own, since a command runs its own event loop."""
    loop, running = asyncio.new_event_loop(), Simulator(pace_ms=0)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(running.start(), loop).result(20)
    yield running.url
    asyncio.run_coroutine_threadsafe(running.stop(), loop).result(20)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def known(url: str, *names: str) -> None:
    server = ServerFactory(name="box", kind="simulator", base_url=url)
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
    assert forced["readable"] == forced["tasks"] == len(TASKS) and free["readable"] < free["tasks"]
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


def test_figures_without_any_outcome_are_no_division() -> None:
    figures = force_report.figures([])
    assert figures["free"]["median_seconds"] is None
    one = ForceOutcome("free", TASKS[0].question, True, True, 2.5)
    assert force_report.figures([one])["free"]["median_tokens"] is None
    assert "unknown" in "".join(force_report.table(figures, {"free": "hermes", "constrained": "forced_json"}))

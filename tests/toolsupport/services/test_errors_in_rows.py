"""Why a server, a database or a download failed: rows hold a code with its facts, so that wording can change."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async as in_database
from django.db import connection

from chat.mcp import server_check
from tests.factories import McpServerFactory, ModelProfileFactory, ServerFactory, UserFactory
from toolsupport import providers
from toolsupport.core import pull_progress, sentences
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.sentence_codes import SentenceTable
from toolsupport.models import ExamRun, ExamTrial, McpServer, ModelPull, Server, SqlSource
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.databases.sql_sources import NewSource
from toolsupport.registry.exams import exam_reports, exam_runs
from toolsupport.registry.exams.exam_runs import ExamRequest
from toolsupport.registry.servers import pulls
from toolsupport.services import database_schema_refresh, refresh
from toolsupport.services.background_jobs import JobRunner

pytestmark = pytest.mark.django_db(transaction=True)


def stored(model: Any, column: str) -> dict[str, Any]:
    """What each row of a table holds in a column: all hold the same."""
    (text,) = set(raw(model, column))
    found: dict[str, Any] = json.loads(text)
    return found


def raw(model: Any, column: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM {model._meta.db_table}")
        return [text if isinstance(text, str) else json.dumps(text) for (text,) in cursor.fetchall()]


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def asked(server: int) -> None:
    await refresh.refresh(server)
    await providers.close()


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    server = ServerFactory(kind="ollama", base_url=url)
    async_to_sync(asked)(server.pk)
    assert stored(Server, "last_error") == {
        "code": "server_silent",
        "server": url,
        "cause": {"code": "connection_refused"},
        "hint": {"code": "start_ollama"},
    }
    advice = "Start it with `ollama serve`, or correct its address."
    assert Server.objects.get().last_error == f"The server at {url} does not answer (connection refused). {advice}"
    table = SentenceTable({**sentences.SENTENCES.templates, "server_silent": "No answer from {server}: {cause}{hint}"})
    monkeypatch.setattr(Server._meta.get_field("last_error"), "table", table)
    assert Server.objects.get().last_error == f"No answer from {url}: connection refused{advice}"


def test_a_sentence_of_an_earlier_version_stays() -> None:
    server = ServerFactory()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE toolsupport_server SET last_error = 'It refused the connection.'")
    server.refresh_from_db()
    assert server.last_error == "It refused the connection."


def test_a_database_that_cannot_be_read(tmp_path: Path) -> None:
    source = sql_sources.add(NewSource("sales", "sqlite", str(tmp_path / "gone.db")))
    words = async_to_sync(database_schema_refresh.refresh_schema)(source)
    assert stored(SqlSource, "why") == {"code": "no_such_file"}
    assert words == SqlSource.objects.get().why == "There is no such file on the server."


def test_what_a_database_wrote_is_a_quotation(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_text("This is no table: " + "-" * 100)
    source = sql_sources.add(NewSource("sales", "files", str(tmp_path)))
    async_to_sync(database_schema_refresh.refresh_schema)(source)
    found = stored(SqlSource, "why")
    assert found["code"] == "file_of_tables_unreadable" and "magic bytes" in found["text"]
    assert str(tmp_path) not in found["text"]


def test_a_download_that_failed() -> None:
    server = ServerFactory(kind="ollama")
    pulls.request(server.pk, "qwen3:8b", UserFactory().pk)
    pull = pulls.claim("worker")
    assert pull is not None
    pulls.conclude(pull.id, "worker", pull_progress.explained("write /models: no space left on device"))
    quotation = "“write /models: no space left on device”"
    assert stored(ModelPull, "error") == {"code": "pull_disk_full", "text": quotation}
    [shown] = pulls.listed(server.pk)
    assert shown.error == f"The disk of the server is full. Make room, then resume. Server: {quotation}."


def test_an_mcp_server_that_cannot_be_reached() -> None:
    server = McpServerFactory(url=f"http://127.0.0.1:{closed_port()}/mcp")
    words = async_to_sync(server_check.ask)(server.pk)
    found = stored(McpServer, "last_error")
    assert found == {"code": "mcp_unreachable", "text": "All connection attempts failed"}
    said = "It cannot be reached: All connection attempts failed."
    assert words == McpServer.objects.get().last_error == said


async def examined(run: int) -> None:
    jobs = JobRunner()
    jobs.spawn(jobs.examiner.serve())
    async with asyncio.timeout(60):
        while (await in_database(exam_reports.shown)(run)).open:
            await asyncio.sleep(0.05)
    await jobs.stop()
    await providers.close()


def test_a_server_that_is_gone_in_an_exam_and_in_a_comparison() -> None:
    profile = ModelProfileFactory(server=ServerFactory(base_url=f"http://127.0.0.1:{closed_port()}", kind="openai"))
    run = exam_runs.open_run(ExamRequest(profile.pk, SUITES["quick"], ("native",)))
    async_to_sync(examined)(run)
    gone = stored(ExamRun, "detail")["failing"]
    assert (gone["code"], gone["cause"]) == ("server_silent", {"code": "connection_refused"})
    assert {json.loads(json.loads(text)["reason"])["code"] for text in raw(ExamTrial, "facts")} == {"server_silent"}
    shown = exam_reports.shown(run).detail["failing"]
    assert shown.startswith("The server at http://127.0.0.1:") and "connection refused" in shown
    whys = {case["why"] for case in exam_reports.to_json(run)["cases"] if case["trials"]}
    assert whys == {f"Not graded: {shown}"}

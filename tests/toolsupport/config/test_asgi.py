"""Who gets a thread of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import pytest_asyncio
from asgiref.sync import SyncToAsync, sync_to_async
from django.db import connection, connections
from django.http import HttpResponse
from django.urls import reverse

from tests.toolsupport.config.test_program_chain import asked, scope
from toolsupport.config import asgi
from toolsupport.config.asgi import ANSWERS, HttpApplication, ThreadedASGIHandler
from toolsupport.providers.read_coalescing import MANY, reading
from toolsupport.services import database_thread, process_tuning
from toolsupport.web.request_threads import RequestThreads


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("path", "shares"), [*((path, True) for path in sorted(ANSWERS)), ("/", False), ("/v1/models", False)]
)
async def test_answers_to_programs_share_the_thread_of_the_chats(
    monkeypatch: pytest.MonkeyPatch, path: str, shares: bool
) -> None:
    seen = []

    async def handle(self: ThreadedASGIHandler, *_: Any) -> None:
        seen.append(SyncToAsync.thread_sensitive_context.get(None) is None)

    monkeypatch.setattr(ThreadedASGIHandler, "answer" if shares else "handle", handle)
    await ThreadedASGIHandler()({"type": "http", "path": path}, None, None)
    assert seen == [shares]


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_an_answer_enters_the_thread_of_the_chats_for_its_own_work_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    trips: list[str] = []
    enter, run = SyncToAsync.__call__, database_thread.run

    def short(work: Callable[[], Any]) -> Awaitable[Any]:
        trips.append("check of the key")
        return run(work)

    async def counted(self: SyncToAsync[..., Any], *args: Any, **kwargs: Any) -> Any:
        trips.append(getattr(self.func, "__qualname__", ""))
        return await enter(self, *args, **kwargs)

    monkeypatch.setattr(SyncToAsync, "__call__", counted)
    monkeypatch.setattr(database_thread, "run", short)
    headers = [(b"host", b"127.0.0.1"), (b"authorization", b"Bearer tsk_wrong")]
    status, _, body = await asked(HttpApplication(), scope("/v1/chat/completions", "POST", headers), b"{}")
    assert status == 401 and b"invalid_api_key" in body
    # Django logs a refusal there.
    assert trips == ["check of the key", "log_response"]


@pytest.mark.asyncio
async def test_a_request_whose_body_does_not_come_is_dropped() -> None:
    sent: list[Any] = []

    async def left() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await ThreadedASGIHandler()(scope("/v1/chat/completions", "POST", []), left, send)
    assert sent == []


class Response(HttpResponse):
    """Notes when it is closed."""

    ends: ClassVar[list[str]] = []

    def close(self) -> None:
        self.ends.append("closed")


@pytest.mark.asyncio
async def test_who_leaves_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = asyncio.Event(), list[str]()
    waiting = [{"type": "http.request", "body": b"{}", "more_body": False}]

    async def work(self: ThreadedASGIHandler, request: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await begun.wait()
        return {"type": "http.disconnect"}

    monkeypatch.setattr(ThreadedASGIHandler, "run_get_response", work)
    await ThreadedASGIHandler()(scope("/v1/responses", "POST", []), receive, None)
    assert ended == ["work"]


@pytest.mark.asyncio
async def test_a_response_is_closed_and_an_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    async def made(self: ThreadedASGIHandler, request: Any) -> HttpResponse:
        return Response("{}")

    async def broken(self: ThreadedASGIHandler, request: Any) -> HttpResponse:
        raise ZeroDivisionError

    Response.ends.clear()
    monkeypatch.setattr(ThreadedASGIHandler, "run_get_response", made)
    assert (await asked(ThreadedASGIHandler(), scope("/v1/responses", "POST", [])))[2] == b"{}"
    assert Response.ends == ["closed"]
    monkeypatch.setattr(ThreadedASGIHandler, "run_get_response", broken)
    with pytest.raises(ZeroDivisionError):
        await asked(ThreadedASGIHandler(), scope("/v1/responses", "POST", []))


def test_the_addresses_are_those_of_the_gateway() -> None:
    names = ("completions", "responses", "messages", "embeddings")
    assert {reverse(f"v1-{name}") for name in names} == ANSWERS


def the_connection() -> tuple[int, Any]:
    """The thread of a request, and SQLite's or PostgreSQL's connection in it."""
    connection.ensure_connection()
    return threading.get_ident(), connection.connection


async def work(threads: RequestThreads, meet: asyncio.Barrier | None = None) -> tuple[int, Any]:
    async with threads.thread():
        found = await sync_to_async(the_connection)()
        if meet is not None:
            await meet.wait()
    return found


async def idle(threads: RequestThreads, count: int) -> None:
    async with asyncio.timeout(10):
        while len(threads._idle) != count:
            await asyncio.sleep(0)


@pytest_asyncio.fixture
async def threads() -> AsyncIterator[RequestThreads]:
    found = RequestThreads(most_idle=2)
    yield found
    for one in found._idle:
        await asyncio.wrap_future(one.submit(connections.close_all))
        one.shutdown()


# O5
@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_requests_use_the_threads_and_connections_of_those_before_them(threads: RequestThreads) -> None:
    first = await work(threads)
    await idle(threads, 1)
    assert await work(threads) == first
    await idle(threads, 1)
    meet = asyncio.Barrier(5)
    found = await asyncio.gather(*(work(threads, meet) for _ in range(5)))
    # At the same time each has its own.
    assert len({thread for thread, _ in found}) == 5 and first in found
    await idle(threads, 2)


# O5
@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_threads_that_are_too_many_close_their_connections(threads: RequestThreads) -> None:
    closed = list[int]()

    def watched() -> None:
        close = connection.close

        def noted() -> None:
            closed.append(threading.get_ident())
            close()

        connection.close = noted  # type: ignore[method-assign]

    meet = asyncio.Barrier(4)

    async def watch() -> int:
        async with threads.thread():
            await sync_to_async(watched)()
            await meet.wait()
            return await sync_to_async(threading.get_ident)()

    idents = await asyncio.gather(*(watch() for _ in range(4)))
    async with asyncio.timeout(10):
        while len(closed) < 2:
            await asyncio.sleep(0)
    assert len(threads._idle) == 2 and set(closed) < set(idents)


# O5
@pytest.mark.asyncio
async def test_a_thread_that_still_works_for_a_request_that_was_left_serves_no_other(threads: RequestThreads) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def long() -> None:
        begun.set()
        assert go_on.wait(10)

    async def leaves() -> None:
        async with threads.thread():
            asyncio.get_running_loop().run_in_executor(threads_of_now(), long)
            await asyncio.to_thread(begun.wait, 10)

    def threads_of_now() -> Any:
        return SyncToAsync.context_to_thread_executor[SyncToAsync.thread_sensitive_context.get()]

    await leaves()
    async with threads.thread():
        await sync_to_async(threading.get_ident)()  # in another one: this one is busy
    go_on.set()
    await idle(threads, 2)


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("seconds", "answers"), [(0.0, 0), (60.0, MANY)], ids=["every minute", "after many answers"])
async def test_a_site_returns_freed_memory(monkeypatch: pytest.MonkeyPatch, seconds: float, answers: int) -> None:
    loop, trimmed = asyncio.get_running_loop(), asyncio.Event()
    library = SimpleNamespace(malloc_trim=lambda _: loop.call_soon_threadsafe(trimmed.set))
    monkeypatch.setattr(process_tuning, "FREE_SECONDS", seconds)
    monkeypatch.setattr(process_tuning, "ctypes", SimpleNamespace(CDLL=lambda _: library))
    asgi.start()
    with ExitStack() as read:
        for _ in range(answers):
            read.enter_context(reading())
    try:
        assert await asyncio.wait_for(trimmed.wait(), 20)
    finally:
        await asgi.stop()


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_a_site_moves_its_memory_into_huge_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    loop, moved = asyncio.get_running_loop(), asyncio.Queue[int]()
    (tmp_path / "size").write_text("2097152\n")
    monkeypatch.setattr(process_tuning, "HUGE_PAGE", tmp_path / "size")
    monkeypatch.setattr(process_tuning, "_collapse", lambda _, size: loop.call_soon_threadsafe(moved.put_nowait, size))
    asgi.start()
    try:
        assert await asyncio.wait_for(moved.get(), 20) == 2097152
    finally:
        await asgi.stop()

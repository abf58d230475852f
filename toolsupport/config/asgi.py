"""The ASGI application: HTTP, websockets, startup and shutdown."""

from __future__ import annotations

import asyncio
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")

import django

django.setup(set_prefix=False)

import logging
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from contextlib import closing, suppress
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import OriginValidator
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.db import connection
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from chat.mcp import mcp_hosts
from chat.transcript.turns import busy_servers
from chat.turns import retention, runner
from chat.turns.comparison_worker import ReplayWorker
from chat.websocket.routing import WEBSOCKETS
from toolsupport import providers
from toolsupport.config import traces
from toolsupport.gateway import answer_runner
from toolsupport.providers import read_coalescing
from toolsupport.services import background_jobs, process_tuning
from toolsupport.services.task_supervisor import TaskSupervisor
from toolsupport.web import gateway_middleware, static_compression
from toolsupport.web.authentication import trusted_header
from toolsupport.web.request_threads import RequestThreads

log = logging.getLogger(__name__)

CLOSING = 1.2  # seconds; the ends of answers have as long before it
ANSWERS = frozenset({"/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/embeddings"})
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def start() -> None:
    """Start the background work: turns, periodic jobs, MCP servers. Needs the running event loop."""
    traces.start(settings.ENV["TOOLSUPPORT_TRACES"])
    if connection.vendor == "postgresql":
        from toolsupport.config.postgresql.watched_connection import time_to_answer

        time_to_answer.serve()
    runner.current().start()
    background_jobs.current().tester.idle.in_use = busy_servers.servers
    background_jobs.current().start()
    background_jobs.current().spawn(process_tuning.use_huge_pages())
    rest = asyncio.Event()
    read_coalescing.on_rest(rest.set)
    background_jobs.current().spawn(process_tuning.return_freed_memory(rest))
    background_jobs.current().spawn(answer_runner.revoked.watch())
    background_jobs.current().add(ReplayWorker)
    background_jobs.current().repeat(retention.JOB)
    mcp_hosts.current().start(background_jobs.current().spawn)


async def stop() -> None:
    """Give running answers, also those to programs, some time to finish, then stop everything.

    A part that does not end in time is left: a thread that waits for a locked database cannot be interrupted.
    """
    seconds = settings.ENV["TOOLSUPPORT_DRAIN_SECONDS"]
    await asyncio.gather(runner.drain(seconds), answer_runner.drained(seconds))
    await ended(runner.shut_down(), mcp_hosts.shut_down())
    await ended(background_jobs.shut_down())
    await ended(providers.close(), traces.stop())


async def ended(*parts: Coroutine[Any, Any, None]) -> None:
    """Wait until these parts have ended, but only CLOSING seconds."""
    supervisor = TaskSupervisor("the stop")
    tasks = [supervisor.spawn(part) for part in parts]
    _, late = await asyncio.wait(tasks, timeout=CLOSING)
    if late:
        log.warning("%d parts of the site did not stop within %g seconds", len(late), CLOSING)


async def lifespan(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
    """The ASGI lifespan protocol, for servers other than `manage.py serve`."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            start()
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await stop()
            await send({"type": "lifespan.shutdown.complete"})
            return


class SameOriginMiddleware:
    """Accepts websockets only from pages of this site; compares full origins, as a host ignores scheme and port."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        return await OriginValidator(self.application, settings.ORIGINS)(scope, receive, send)


class ThreadedASGIHandler(ASGIHandler):
    """Django's handler with other threads: answers to programs share that of the chats, pages reuse theirs.

    A thread per answer, and with it a database connection, would cost more than all of the answer's database work.
    """

    threads = RequestThreads()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] in ANSWERS:
            await self.answer(scope, receive, send)
            return
        async with self.threads.thread():
            await self.handle(scope, receive, send)

    async def listen_for_disconnect(self, receive: Any) -> None:
        """Wait until the client has left. Django's own raises an error, whose frames keep the request and its page."""
        await receive()

    # Their errors are raised by `answer`.
    parts = TaskSupervisor("answers to programs", expected=(Exception,))

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Do what `handle` does, without a trip to the thread of chats before the request and after it.

        Django makes them to close unusable connections, which Channels does around each piece of work of that thread.
        """
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with closing(body):
            request, refused = self.create_request(scope, body)
            if refused is not None:
                await self.send_response(refused, send)
                refused.close()
                return
            leaving = self.parts.spawn(self.listen_for_disconnect(receive))
            working = self.parts.spawn(self._worked(request, scope, send))
            try:
                await asyncio.wait((leaving, working), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (leaving, working):
                    task.cancel()
                ends: Sequence[Any] = await asyncio.gather(leaving, working, return_exceptions=True)
            for end in ends:
                if isinstance(end, Exception):
                    raise end
                if isinstance(end, HttpResponseBase):
                    end.close()

    async def _worked(self, request: Any, scope: Any, send: Any) -> HttpResponseBase:
        set_script_prefix(get_script_prefix(scope))
        response: HttpResponseBase = await self.run_get_response(request)
        with suppress(asyncio.CancelledError):  # the client left
            await self.send_response(response, send)
        return response


class ProgramASGIHandler(ThreadedASGIHandler):
    """Django's handler with the short chain of middleware, for requests to /v1 that come with a key."""

    def load_middleware(self, is_async: bool = False) -> None:
        whole, settings.MIDDLEWARE = settings.MIDDLEWARE, gateway_middleware.MIDDLEWARE
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = whole


class HttpApplication:
    """Sends requests of programs through the short chain, all others through the whole one."""

    def __init__(self) -> None:
        self.pages = ThreadedASGIHandler()
        self.programs = ProgramASGIHandler()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        await (self.programs if gateway_middleware.has_key(scope) else self.pages)(scope, receive, send)


# The middleware that sends static files reads this when the handler is made.
settings.SERVESTATIC_USE_FINDERS = not static_compression.collected()
application = ProtocolTypeRouter(
    {
        "http": HttpApplication(),
        "websocket": SameOriginMiddleware(AuthMiddlewareStack(trusted_header.SocketGuard(URLRouter(WEBSOCKETS)))),
        "lifespan": lifespan,
    }
)

"""A model server that writes given texts in pieces, as fast as a test lets it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.serving import Site, sign_in

MODEL = "writer"
PATIENCE = 60.0


@dataclass
class WritingServer:
    """Writes `texts[the last message]`; where a text has a ‖ it waits there for `go_on`.

    Before it the model calls `read_file` with each of `reads[the last message]`.
    """

    texts: dict[str, str] = field(default_factory=dict)
    reads: dict[str, list[str]] = field(default_factory=dict)
    piece: int = 6
    pause: float = 0.0
    port: int = 0
    _go_on: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def go_on(self) -> None:
        self._go_on.release()

    def hold(self) -> None:
        """Wait again where an answer waits, also if an earlier test let more go on than there was."""
        while self._go_on.acquire(blocking=False):
            pass

    async def models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        messages = (await request.json())["messages"]
        asked = next(one["content"] for one in reversed(messages) if one["role"] == "user")
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        if asked in self.reads and messages[-1]["role"] == "user":
            for number, path in enumerate(self.reads[asked]):
                call = {"name": "read_file", "arguments": json.dumps({"path": path})}
                made = {"index": number, "id": f"call_{number}", "type": "function", "function": call}
                await answer.write(_event({"tool_calls": [made]}))
            await answer.write(_event({}, "tool_calls") + b"data: [DONE]\n\n")
            return answer
        for number, part in enumerate(self.texts.get(asked, "Fine.").split("‖")):
            if number:
                await asyncio.to_thread(self._go_on.acquire, timeout=PATIENCE)
            for start in range(0, len(part), self.piece):
                await answer.write(_event({"content": part[start : start + self.piece]}))
                await asyncio.sleep(self.pause)
        await answer.write(_event({}, "stop") + b"data: [DONE]\n\n")
        return answer

    async def _serve(self, started: threading.Event, ended: asyncio.Event) -> None:
        app = web.Application()
        app.add_routes([web.get("/v1/models", self.models), web.post("/v1/chat/completions", self.chat)])
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = runner.addresses[0][1]
        started.set()
        await ended.wait()
        await runner.cleanup()


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    chunk = {"id": "1", "object": "chat.completion.chunk", "choices": [{"delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


@contextmanager
def writing_server(**settings: object) -> Iterator[WritingServer]:
    server, started, ended = WritingServer(**settings), threading.Event(), asyncio.Event()  # type: ignore[arg-type]
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=lambda: loop.run_until_complete(server._serve(started, ended)), daemon=True)
    thread.start()
    assert started.wait(PATIENCE)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(PATIENCE)
        loop.close()


@contextmanager
def known_to(site: Site, name: str, server: WritingServer) -> Iterator[WritingServer]:
    """The site lists this server meanwhile: other files use the same site, and ask all of its servers."""
    site.manage("add_server", name, f"{server.url}/v1", "--kind", "openai")
    site.manage("refresh_models", "--server", name)
    yield server
    removed(site, server)


def removed(site: Site, server: WritingServer) -> None:
    """Remove the server from the site."""
    [(added,)] = site.rows("SELECT id FROM toolsupport_server WHERE base_url LIKE ?", f"{server.url}%")
    with closing(sign_in(site)) as admin:
        headers = {"X-CSRFToken": admin.cookies["csrftoken"]}
        assert admin.post(f"/servers/{added}/remove/", headers=headers).status_code == 200

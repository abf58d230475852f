"""The simulator's HTTP server."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from typing import cast

import h11

from toolsupport.simulator import http11
from toolsupport.simulator.client_connection import Client, DisconnectReader
from toolsupport.simulator.http11 import BadRequest, ReceivedRequest, Response, StreamedResponse
from toolsupport.simulator.loaded_models import ModelMemory
from toolsupport.simulator.routes import respond
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.wire.ollama_stream import ConnectionCut

log = logging.getLogger(__name__)

PACE_MS = 15.0
LOAD_SECONDS = 8.0


class Simulator:
    """Serves the simulated models on `host` and `port` (0: a free one, known after `start`).

    `pace_ms` is milliseconds per token, `load_seconds` the load time of the slow model. `active` counts the requests in
    progress.
    """

    def __init__(
        self, host: str = "127.0.0.1", port: int = 0, *, pace_ms: float = PACE_MS, load_seconds: float = LOAD_SECONDS
    ) -> None:
        self.host = host
        self.port = port
        self.active = 0
        self._state = SimulatorState(ModelMemory(load_seconds), pace_ms / 1000)
        self._server: asyncio.Server | None = None
        self._clients: set[Client] = set()
        self._empty = asyncio.Event()

    def hold(self, models: int) -> None:
        """Limit memory to this many models, each of which then takes `load_seconds` to load; 0: no limit."""
        self._state.memory.holds = models

    def pace(self, pace_ms: float) -> None:
        """Set the milliseconds per token from now on."""
        self._state.pace = pace_ms / 1000

    @property
    def loads(self) -> int:
        """How often a model was loaded."""
        return self._state.memory.loads

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    async def start(self) -> None:
        """Start listening. Raises OSError if the address is not available."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._protocol, self.host, self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and end every connection."""
        if self._server is None:
            return
        self._server.close()
        for client in self._clients:
            client.writer.transport.abort()
        if self._clients:
            self._empty.clear()
            await self._empty.wait()
        await self._server.wait_closed()
        self._server = None

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(DisconnectReader(), self._serve)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Client(cast(DisconnectReader, reader), writer)
        self._clients.add(client)
        try:
            while await self._answer_one(client):
                pass
        except (ConnectionError, ConnectionCut):
            pass
        finally:
            # close() flushes what was written: a cut stream arrives whole up to the cut.
            writer.close()
            self._clients.discard(client)
            if not self._clients:
                self._empty.set()

    async def _answer_one(self, client: Client) -> bool:
        """Answer one request; return whether the connection stays open."""
        try:
            request = await http11.read(client.http, client.reader, client.writer)
        except BadRequest as error:
            await client.send(http11.refusal(client.http, error))
            return False
        if request is None:
            return False
        self.active += 1
        try:
            await self._answer(client, request)
        finally:
            self.active -= 1
        if client.http.our_state is not h11.DONE:
            return False
        client.http.start_next_cycle()
        return True

    async def _answer(self, client: Client, request: ReceivedRequest) -> None:
        try:
            answer = await respond(self._state, client, request)
        except (ConnectionError, ConnectionCut):
            raise
        except Exception:
            log.exception("simulator failed at %s %s", request.method, request.path)
            answer = Response(b"", 500, http11.PLAIN)
        if isinstance(answer, Response):
            await client.send(http11.whole(client.http, answer, request.method))
        else:
            await _send_stream(client, answer)


async def _send_stream(client: Client, stream: StreamedResponse) -> None:
    await client.send(http11.head(client.http, 200, {"Content-Type": stream.content_type}))
    async with aclosing(stream.pieces) as pieces:
        async for piece in pieces:
            await client.send(http11.piece(client.http, piece))
    await client.send(http11.end(client.http))

"""Sends a request to a model server and streams the answer: the one loop for all providers.

In: an endpoint and a request. Out: batches of events, one per read and none of them empty, so that a caller sends once
per read; the last event is always Finished or Failed. Caller: `exchange`, for chats, programs and tests alike.
- Leaving the stream early (aclose, cancellation) closes the connection at once, which makes the server stop.
- Limits count the server's silence: `first_token` until the first byte of the answer (loading included), `between`
  after that, `total` over everything; the size of an answer is limited as well. Keep-alive comments count as life.
- Where a server may hold a whole call back until its last line, the limit of its silence is `first_token` throughout.
- A request is repeated at most twice, only while nothing of the answer has come, and only where the server could not
  be reached or asked to come back, by its status or by an error inside a reply with status 200; one that reports that
  it still loads its model is asked until `first_token` is over.
It never raises because of a server, interprets no byte itself (that is the codec), and follows no redirect.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from math import ceil

import httpx

from toolsupport import loop_share
from toolsupport.core import load_failures, schema_limits
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.events import ENDS, Event, Failed, Finished, TextDelta, ThinkingDelta
from toolsupport.core.sentences import sentence
from toolsupport.core.types import Endpoint, Limits, Request, Signature
from toolsupport.providers import error_text, http_client, read_coalescing
from toolsupport.providers.codec import Codec
from toolsupport.providers.exchange_recorder import ExchangeRecorder, RecordedExchange
from toolsupport.providers.server_kinds import provider

LOADING_PAUSE = 1.0  # seconds before a server that loads its model is asked again
PAUSES = (0.25, 1.0)  # seconds before the second and the third try; each is stretched by up to a half
LONGEST_PAUSE = 10.0
SECONDS = re.compile(r"\d{1,8}(?:\.\d{0,20})?", re.ASCII)  # some services write parts of a second
ERROR_BODY = 5.0  # seconds to wait for the words of an error
SMALL = 4 * 1024  # bytes that a codec reads in some microseconds
GROWING = (TextDelta, ThinkingDelta)
READINGS = 48  # hundreds of phrases are looked for in an error, so a page of text takes as long as a book elsewhere


@dataclass(frozen=True, slots=True)
class _FailedAttempt:
    """A failed attempt; `again`: a retry may help, `pause` is the requested wait in seconds.

    `loading`: the server is up and still loads its model.
    """

    failure: Failed
    again: bool = False
    pause: float | None = None
    loading: bool = False


class _Deadline:
    """The limit of the next wait. Times are the loop's, in seconds."""

    def __init__(self, endpoint: Endpoint, request: Request) -> None:
        self._now = asyncio.get_running_loop().time
        self.limits = endpoint.limits
        # Ollama sends nothing while a call is written, however long that takes: calls stand in the last line alone.
        held_back = bool(request.tools) and provider(endpoint.kind).holds_calls_back
        self._between = max(self.limits.between, self.limits.first_token) if held_back else self.limits.between
        self._end = self._now() + self.limits.total
        self._first = self._now() + self.limits.first_token
        self.begun = self.expired = False

    def deadline(self) -> float:
        return min(self._end, self._now() + self._between if self.begun else self._first)

    async def within(self, pieces: AsyncGenerator[bytes, None]) -> bytes:
        """Return the next piece, b"" at the end; where none comes in time, raise TimeoutError and be `expired`."""
        waiting = asyncio.timeout_at(self.deadline())
        try:
            async with waiting:
                return await anext(pieces, b"")
        finally:
            self.expired = waiting.expired()

    def late(self) -> Failed:
        """Return the message for a passed deadline."""
        if self._now() >= self._end:
            return Failed("timeout", f"The answer was stopped: it took longer than {self.limits.total:g} s.")
        if self.begun:
            return Failed("timeout", f"The answer was stopped: the server sent nothing for {self._between:g} s.")
        waited = self.limits.first_token
        return Failed("timeout", f"The model sent nothing for {waited:g} s. It may still be loading; try again.")


class _SizeLimit:
    """Counts the size of a reply: an endless one would fill the memory long before its time is over."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bytes = 0
        self.text = 0

    def exceeded(self, piece: bytes, events: Sequence[Event]) -> bool:
        self.bytes += len(piece)
        for event in events:
            if isinstance(event, GROWING):
                self.text += len(event.text)
        return self.bytes > self.limits.answer_bytes or self.text > self.limits.answer_text

    def failure(self) -> Failed:
        most = f"{self.limits.answer_text:,} characters"
        if self.text <= self.limits.answer_text:
            most = f"{self.limits.answer_bytes:,} bytes"
        return Failed("too_large", f"The answer did not end: it was cut off after {most}.")


@dataclass(slots=True)
class _Sending:
    """One request with its attempts; `exchange` is the record of the latest one, None if nothing is recorded."""

    endpoint: Endpoint
    body: bytes
    clock: _Deadline
    recorder: ExchangeRecorder | None
    tools: bytes = b""
    exchange: RecordedExchange | None = None

    def begin(self, sent: httpx.Request) -> None:
        if self.recorder is not None:
            self.exchange = self.recorder.begin(str(sent.url), self.body, self.tools)

    def set_status(self, status: int) -> None:
        if self.exchange is not None:
            self.exchange.status = status

    def add(self, piece: bytes) -> None:
        """Record a piece of the reply; every token passes through here."""
        if self.exchange is not None:
            self.exchange.add(piece)

    def end(self, event: Event | None = None) -> None:
        if self.exchange is not None:
            self.exchange.end()
            if isinstance(event, Failed):
                self.exchange.error = event.message


async def stream(
    endpoint: Endpoint, request: Request, recorder: ExchangeRecorder | None = None
) -> AsyncGenerator[list[Event], None]:
    """Yield batches of events, none of them empty; the last event is Finished or Failed.

    `recorder` receives every attempt.
    """
    row, request = provider(endpoint.kind), replace(request, account=endpoint.account)
    codec = row.codec(endpoint.limits.line_bytes)
    try:
        size = sum(message.size for message in request.messages) + schema_limits.size_of(request.tools)
        body = await loop_share.apart(lambda: codec.encode(request), size)
    except (ToolsupportError, ValueError) as error:
        yield [Failed("refused", str(error))]
        return
    http_client.get_ready(endpoint)  # this is not the server's time
    tools = codec.written_tools(request) if recorder is not None else b""
    sending = _Sending(endpoint, body, _Deadline(endpoint, request), recorder, tools)
    for pause in (*PAUSES, None):
        failed: _FailedAttempt | None = None
        reply = row.codec(endpoint.limits.line_bytes)
        reply.signature = Signature(request.model, account=request.account)
        async with aclosing(_attempt(sending, reply)) as parts:
            async for part in parts:
                if isinstance(part, list):
                    yield part
                else:
                    failed = part
        if failed is None:
            return
        if not await _waited(failed, pause):
            yield [failed.failure]
            return


async def _attempt(sending: _Sending, codec: Codec) -> AsyncGenerator[list[Event] | _FailedAttempt, None]:
    """Yield the batches of one attempt. A failed one, of whose answer nothing has come, is the last part instead."""
    opened = await _loaded(sending)
    if isinstance(opened, _FailedAttempt):
        yield opened
        return
    try:
        async for events in _read(opened, codec, sending):
            last = events[-1]
            if isinstance(last, Failed) and last.status >= 400:
                yield await _as_answered(last, sending)
            else:
                yield events
    finally:
        sending.end()
        await opened.aclose()


async def _as_answered(failed: Failed, sending: _Sending) -> _FailedAttempt:
    """Return the failure that an error inside a reply with status 200 is under the status that it names."""
    failure = await loop_share.apart(
        lambda: error_text.answered(sending.endpoint, failed.status, failed.body), len(failed.body) * READINGS
    )
    sending.end(failure)
    return _FailedAttempt(failure, failure.kind == "busy")


async def _waited(failed: _FailedAttempt, pause: float | None) -> bool:
    """Wait before the next attempt; False if none follows. `pause` is None after the last one."""
    if pause is None or not failed.again:
        return False
    wait = failed.pause if failed.pause is not None else pause * random.uniform(1.0, 1.5)
    if wait <= LONGEST_PAUSE:
        await asyncio.sleep(wait)
    return wait <= LONGEST_PAUSE


async def _loaded(sending: _Sending) -> httpx.Response | _FailedAttempt:
    """Repeat an attempt while the server reports that it loads its model, as llama-server does with status 503."""
    while True:
        opened = await _try(sending)
        if isinstance(opened, _FailedAttempt):
            sending.end(opened.failure)
        if not isinstance(opened, _FailedAttempt) or not opened.loading:
            return opened
        try:
            async with asyncio.timeout_at(sending.clock.deadline()):
                await asyncio.sleep(LOADING_PAUSE)
        except TimeoutError:
            return _FailedAttempt(sending.clock.late())


async def _try(sending: _Sending) -> httpx.Response | _FailedAttempt:
    endpoint, clock = sending.endpoint, sending.clock
    try:
        async with asyncio.timeout_at(clock.deadline()) as waiting:
            sent = http_client.request(endpoint, provider(endpoint.kind).chat_path, sending.body)
            sending.begin(sent)
            response = await http_client.send(endpoint, sent)
    except error_text.FAULTS as error:
        if waiting.expired():
            return _FailedAttempt(clock.late())
        return _FailedAttempt(error_text.not_reached(endpoint, error), error_text.cause_of(error).again)
    if response.status_code != 200:
        return await _refused(sending, response)
    sending.set_status(response.status_code)
    if response.headers.get("content-type", "").startswith("text/html"):
        # Such as the sign-in page of a network, which some put in the place of every answer.
        await response.aclose()
        return _FailedAttempt(error_text.failed(endpoint, "garbled", sentence("web_page")))
    return response


async def _refused(sending: _Sending, response: httpx.Response) -> _FailedAttempt:
    """Read the reason, as far as it arrives in time; the status alone is enough to continue."""
    body = b""
    try:
        async with asyncio.timeout(ERROR_BODY):
            body = await http_client.read(response, http_client.LARGEST_ERROR)
    except error_text.FAULTS:
        pass
    finally:
        await response.aclose()
    # Busy: Ollama's queue is full (503), a hosted server limits the rate (429). llama-server loads (503).
    sending.set_status(response.status_code)
    sending.add(body)
    text = body[: http_client.LARGEST_ERROR].decode(errors="replace")
    failure = await loop_share.apart(
        lambda: error_text.answered(sending.endpoint, response.status_code, text), len(text) * READINGS
    )
    loading = response.status_code == 503 and load_failures.is_loading(text)
    busy, pause = failure.kind == "busy", _asked_pause(response)
    return _FailedAttempt(replace(failure, pause=_seconds(response)) if busy else failure, busy, pause, loading)


def _asked_pause(response: httpx.Response) -> float | None:
    """Return the seconds to wait that a server asks for; a date counts as too long."""
    if SECONDS.fullmatch(milliseconds := response.headers.get("retry-after-ms", "")):  # OpenAI and Azure
        return float(milliseconds) / 1000
    asked = response.headers.get("retry-after", "")
    if not asked:
        return None
    return float(asked) if SECONDS.fullmatch(asked) else LONGEST_PAUSE + 1


def _seconds(response: httpx.Response) -> int:
    """Return Retry-After in whole seconds, 0 if it is no number."""
    asked = response.headers.get("retry-after", "")
    return ceil(float(asked)) if SECONDS.fullmatch(asked) else 0


async def _read(response: httpx.Response, codec: Codec, sending: _Sending) -> AsyncGenerator[list[Event], None]:
    clock = sending.clock
    size, received = _SizeLimit(clock.limits), http_client.received(response)
    with read_coalescing.reading() as pace:
        async with aclosing(http_client.pieces(response)) as pieces:
            while True:
                try:
                    piece = received() or await clock.within(pieces)
                except error_text.FAULTS as error:
                    # The end mark may have come before the loss. Without one it is an error, also at 200:
                    # Ollama's /v1 drops an error during a stream, llama-server is cut off when it is stopped.
                    last = _cut(codec, http_client.unread(response), sending)
                    if not (last and ended(last[-1])):
                        last.append(clock.late() if clock.expired else error_text.broken_off(error))
                    sending.end(last[-1])
                    yield last
                    return
                clock.begun = True
                sending.add(piece)
                events = codec.feed(piece) if 0 < len(piece) < SMALL else await _fed(codec, piece)
                if size.exceeded(piece, events):
                    events = [size.failure()]
                over = not piece or bool(events and isinstance(events[-1], ENDS))
                if over:
                    sending.end(events[-1] if events else None)
                if events:
                    yield events
                if over:
                    return
                await pace.wait(len(piece))


async def _fed(codec: Codec, piece: bytes) -> list[Event]:
    """Return the events of a large piece, or of the end (b"")."""
    async with loop_share.step():
        return codec.feed(piece) if piece else codec.flush()


def _cut(codec: Codec, rest: bytes, sending: _Sending) -> list[Event]:
    """Return the events of data that arrived before a connection was lost, with the end if it is certain."""
    sending.add(rest)
    events = codec.feed(rest) if rest else []
    last = [] if events and ended(events[-1]) else codec.flush()
    return [*events, *(last if ended_well(last) else ())]


def ended_well(events: list[Event]) -> bool:
    """Return True if these events end a complete reply."""
    return bool(events) and isinstance(events[-1], Finished)


def ended(event: Event) -> bool:
    """Return True for the event after which a codec emits nothing more."""
    return isinstance(event, ENDS)

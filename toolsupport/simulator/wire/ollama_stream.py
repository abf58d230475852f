"""Streams one reply of a simulated model as the chunks of Ollama's native protocol."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field, replace
from random import Random

from toolsupport.simulator import go_json_writer
from toolsupport.simulator.client_connection import Client
from toolsupport.simulator.duration import DEFAULT
from toolsupport.simulator.fitting.fitting import Intention, fitted
from toolsupport.simulator.loaded_models import CONTEXT
from toolsupport.simulator.models import SimulatedModel, render
from toolsupport.simulator.rules import continued_reply
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.types import JSON, ModelInput, ReplyEnding, SimulatedCall, SimulatedReply, tokens

# What Ollama writes into a stream that breaks (docs/api/errors).
BROKEN = "an error was encountered while running the model"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class ConnectionCut(Exception):
    """The connection must be cut here, as when a server crashes."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A valid chat request; `model` is the name as it was sent."""

    model: str
    prompt: ModelInput
    stream: bool = True
    think: bool | str | None = None
    options: JSON = field(default_factory=dict)
    keep_alive: float = DEFAULT
    render_only: bool = False
    pinned: int = 0
    schema: JSON | None = None

    @property
    def read(self) -> int:
        """Return how many prompt tokens the model reads; the whole window if the rest was cut off."""
        return self.pinned or len(tokens(render(self.prompt)))

    def whole(self, option: str, default: int) -> int:
        """Return a whole number from the options; anything but a finite number counts as missing."""
        value = self.options.get(option)
        finite = isinstance(value, int | float) and abs(value) < 1e15
        return int(value) if finite and value is not None else default


@dataclass(slots=True)
class ReplyTiming:
    """The timestamps of one reply, in nanoseconds."""

    started: int = field(default_factory=time.perf_counter_ns)
    loaded: int = 0
    first: int = 0

    def metrics(self, read: int, written: int) -> JSON:
        """Return Ollama's metrics, in its order; zeros are left out as Go's omitempty does."""
        now = time.perf_counter_ns()
        first = self.first or now
        figures = {
            "total_duration": now - self.started,
            "load_duration": self.loaded - self.started,
            "prompt_eval_count": read,
            "prompt_eval_duration": first - self.loaded,
            "eval_count": written,
            "eval_duration": now - first,
        }
        return {name: value for name, value in figures.items() if value}


def chunk(model: str, message: JSON, **end: object) -> JSON:
    """Return one line of the stream: the fields in the order of Ollama's struct."""
    spoken = {"role": "assistant", "content": "", **message}
    return {"model": model, "created_at": go_json_writer.now(), "message": spoken, "done": False, **end}


def call_json(request: ChatRequest, index: int, call: SimulatedCall) -> JSON:
    """Return a complete call; its id is derived from the conversation, so that repeats give the same bytes."""
    seed = hashlib.sha256(f"{request.model} {index} {request.prompt!r}".encode("utf-8", "replace")).digest()
    name = "".join(LETTERS[byte % len(LETTERS)] for byte in seed[:8])
    function = {"index": index, "name": call.name, "arguments": go_json_writer.as_map(call.arguments)}
    return {"id": f"call_{name}", "function": function}


def pieces(request: ChatRequest, reply: SimulatedReply) -> Iterator[tuple[int, JSON]]:
    """Yield the reply in pieces, each with its number of tokens."""
    yield from ((1, {"thinking": token}) for token in tokens(reply.thinking))
    yield from ((1, {"content": token}) for token in reply.pieces)
    for index, call in enumerate(reply.calls):
        cost = len(tokens(json.dumps(call.arguments))) + len(tokens(call.name))
        yield cost, {"tool_calls": [call_json(request, index, call)]}


async def load(state: SimulatorState, client: Client, request: ChatRequest, model: SimulatedModel) -> ReplyTiming:
    """Wait until the model is in memory."""
    clock = ReplyTiming()
    seconds = state.memory.load(model.name, request.whole("num_ctx", CONTEXT), model.slow)
    if seconds:
        await client.pause(seconds)
    clock.loaded = time.perf_counter_ns()
    return clock


@dataclass(slots=True)
class ReplyStreamer:
    """Streams one reply at the model's pace."""

    state: SimulatorState
    client: Client
    request: ChatRequest
    model: SimulatedModel
    clock: ReplyTiming

    async def reply_chunks(self) -> AsyncGenerator[JSON, None]:
        """Yield the chunks of the reply. The last has `done`, or is `{"error": …}`. Raises ConnectionCut."""
        reply = self._reply()
        limit = self.request.whole("num_predict", -1)
        written, reason = 0, "stop"
        try:
            for cost, message in pieces(self.request, reply):
                if 0 <= limit < written + cost:
                    reason = "length"
                    break
                if reply.ending != ReplyEnding.STOP and written >= reply.tokens:
                    break
                await self.client.pause(self.state.pace * self.model.pace)
                self.clock.first = self.clock.first or time.perf_counter_ns()
                written += cost
                yield chunk(self.request.model, message)
            yield self._end(reply, reason, written)
        finally:
            self.state.memory.keep(self.model.name, self.request.keep_alive)

    def _reply(self) -> SimulatedReply:
        """Return the model's reply, as a text of the schema if its server enforces one."""
        prompt, options = self.request.prompt, self.request.options
        reply = continued_reply.reply(self.model.reply, prompt)
        if prompt.constraint is None:
            return reply
        seed = f"{self.request.model} {prompt!r} {json.dumps(options, sort_keys=True)} {prompt.constraint!r}"
        chance = Random(hashlib.sha256(seed.encode("utf-8", "replace")).digest())
        intention = Intention(reply.calls, reply.content) if reply.calls or reply.content else None
        return replace(reply, content=fitted(prompt.constraint, intention, chance), calls=(), awkward=True)

    def _end(self, reply: SimulatedReply, reason: str, written: int) -> JSON:
        if reply.ending == ReplyEnding.CUT:
            raise ConnectionCut
        if reply.ending == ReplyEnding.ERROR:
            return {"error": BROKEN}
        figures = self.clock.metrics(self.request.read, written)
        return chunk(self.request.model, {}, done=True, done_reason=reason, **figures)


async def collect(spoken: AsyncGenerator[JSON, None]) -> JSON:
    """Join all chunks into one, for a request without streaming."""
    response: JSON = {"role": "assistant", "content": "", "thinking": "", "tool_calls": []}
    last: JSON = {}
    async for last in spoken:
        message = last.get("message", {})
        response["content"] += message.get("content", "")
        response["thinking"] += message.get("thinking", "")
        response["tool_calls"] += message.get("tool_calls", [])
    kept = {name: value for name, value in response.items() if value or name in ("role", "content")}
    return last if "error" in last else {**last, "message": kept}

"""A fake Ollama server that stamps each token with the moment it was sent.

The name of a model carries its settings: `fake-n50-d20` answers with 50 tokens, one every 20 ms; `fake-n5000-d0` as
fast as the connection takes them. A token is "@", 16 digits (the monotonic clock in ns) and a space, so that a client
on the same machine gets its latency by subtraction.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from typing import Any

MARK = b"@%016d "
SETTINGS = re.compile(r"-n(\d+)-d(\d+)")
BURST = 32  # tokens written in one go before other connections get their turn
BYTES_A_TOKEN = 4  # of the request
MADE = "2026-01-01T00:00:00.000000Z"
DETAILS = {"format": "gguf", "family": "fake", "parameter_size": "7B", "quantization_level": "Q4_K_M"}
MODEL = {"modified_at": MADE, "size": 1, "digest": "0" * 64, "details": DETAILS}
FIXED = {
    "/api/version": {"version": "0.13.0"},
    "/api/tags": {"models": []},
    "/api/ps": {"models": []},
    "/api/show": {
        "template": "{{ .Prompt }}",
        "details": DETAILS,
        "model_info": {"general.architecture": "fake", "fake.context_length": 8192},
        "capabilities": ["completion", "tools"],
    },
}


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(payload), payload)


def line(model: str, content: str, **more: Any) -> bytes:
    message = {"role": "assistant", "content": content}
    return json.dumps({"model": model, "created_at": MADE, "message": message, "done": False, **more}).encode() + b"\n"


class Answer:
    """One reply on its way: which tokens are still to come, at which pace."""

    def __init__(self, body: bytes) -> None:
        model = json.loads(body)["model"]
        found = SETTINGS.search(model)
        count, pace = found.groups() if found else ("50", "20")
        self.left, self.pace = int(count), int(pace) / 1000
        self.before, self.after = chunk(line(model, "#" * 18)).split(b"#" * 18)
        # As many tokens as the request may have had: too few would look like a prompt that was cut.
        read = len(body) // BYTES_A_TOKEN
        usage = {"done_reason": "stop", "eval_count": int(count), "eval_duration": 1, "prompt_eval_count": read}
        self.end = chunk(line(model, "", **{**usage, "done": True})) + b"0\r\n\r\n"

    def take(self, count: int) -> bytes:
        """The next tokens as chunks, each stamped now."""
        count = min(count, self.left)
        self.left -= count
        return b"".join(self.before + MARK % time.monotonic_ns() + self.after for _ in range(count))


class Connection(asyncio.Protocol):
    """Reads requests and writes answers on one kept connection."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self.buffer = b""
        self.answer: Answer | None = None
        self.due = 0.0
        self.full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.answer = None

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        if self.answer and not self.answer.pace:
            self.flood()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        size = re.search(rb"content-length: *(\d+)", head, re.I)
        body = int(size[1]) if size else 0
        if found and len(rest) >= body and not self.answer:
            self.buffer = rest[body:]
            self.route(head.split(b" ")[1].decode(), rest[:body])

    def route(self, path: str, body: bytes) -> None:
        if path != "/api/chat":
            return self.reply(FIXED.get(path))
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.transport.write(head)
        self.answer = Answer(body)
        self.due = asyncio.get_running_loop().time()
        self.tick() if self.answer.pace else self.flood()

    def reply(self, found: object) -> None:
        body = json.dumps(found or {"error": "not found"}).encode()
        head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        self.transport.write(head % (b"200 OK" if found else b"404 Not Found", len(body)) + body)

    def tick(self) -> None:
        if not self.answer:
            return
        self.transport.write(self.answer.take(1))
        self.due += self.answer.pace
        asyncio.get_running_loop().call_at(self.due, self.tick if self.answer.left else self.finish)

    def flood(self) -> None:
        """Writes go out one by one, as a model server's do; a full pipe pauses them."""
        for _ in range(BURST):
            if not self.answer or self.full:
                return
            if not self.answer.left:
                return self.finish()
            self.transport.write(self.answer.take(1))
        asyncio.get_running_loop().call_soon(self.flood)

    def finish(self) -> None:
        if self.answer:
            self.transport.write(self.answer.end)
            self.answer = None


async def main(port: int, models: list[str]) -> None:
    FIXED["/api/tags"] = {"models": [{"name": name, "model": name, **MODEL} for name in models]}
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port, backlog=4096)
    print(f"listening on {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--port", type=int, default=0)
    given.add_argument("models", nargs="*", help="what the server lists")
    asked = given.parse_args()
    asyncio.run(main(asked.port, asked.models))

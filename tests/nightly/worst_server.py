"""A model server with Ollama's protocol that sends the text that the last message of a request asks for.

The message is JSON: {"text": …} is a reply in one piece, {"error": …} a refusal with that body, {"call": …} a call with
these arguments, {"count": n} counts to n, one number every 20 ms. As a command it prints its port.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.bench.upstream import DETAILS, FIXED, MADE

MODEL = "worst"
TAGS = {
    "models": [{"name": MODEL, "model": MODEL, "modified_at": MADE, "size": 1, "digest": MODEL, "details": DETAILS}]
}
PAUSE = 0.02


def wish(body: dict[str, Any]) -> dict[str, Any]:
    """Return what the newest message of a person asks for."""
    for message in reversed(body.get("messages", [])):
        if message["role"] == "tool":
            break
        if message["role"] == "user":
            try:
                found = json.loads(message["content"])
            except (ValueError, RecursionError):
                break
            return found if isinstance(found, dict) else {}
    return {}


def pieces(wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a reply."""
    if "text" in wanted:
        yield {"role": "assistant", "content": wanted["text"]}
    elif "call" in wanted:
        yield {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": wanted["call"]}] * wanted.get("times", 1),
        }
    else:
        for number in range(wanted.get("count", 1)):
            threading.Event().wait(PAUSE)
            yield {"role": "assistant", "content": f"{number} "}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._whole(200, TAGS if self.path == "/api/tags" else FIXED.get(self.path, {}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/api/chat":
            return self._whole(200, FIXED.get(self.path, {}))
        wanted = wish(body)
        if "error" in wanted:
            return self._whole(400, wanted["error"])
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for message in pieces(wanted):
            self._line({"model": MODEL, "message": message, "done": False})
        self._line(
            {"model": MODEL, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
        )
        self.wfile.write(b"0\r\n\r\n")

    def _line(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _whole(self, status: int, value: Any) -> None:
        data = value.encode(errors="replace") if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server that prints nothing about connections which the site ends, as it does when an answer is over."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()

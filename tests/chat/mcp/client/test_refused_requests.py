"""A status that answers one request over HTTP is the reason for that request, and ends no other."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from chat.mcp.client.connection import connected, in_words
from tests.chat.mcp.client.scripted import answer
from toolsupport.core.remote_tools import RemoteServer

pytestmark = pytest.mark.asyncio

SCRIPT: dict[str, Any] = {"list": {"tools": []}, "call": {"content": []}}
SIGN_IN = 'Bearer resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"'


class Refusing(BaseHTTPRequestHandler):
    """Answers a call with the status that is its name, and every other request as it should be."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, name = message["method"], message.get("params", {}).get("name", "")
        if self.path == "/closed" or name.isdecimal():
            self.answer(int(name or 401), {"error": "no"})
        elif name == "explains":
            self.answer(403, {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "not on Sundays"}})
        elif "id" not in message:
            self.answer(202, {})
        else:
            if name == "slow":
                threading.Event().wait(0.5)
            self.answer(200, {"jsonrpc": "2.0", "id": message["id"], **answer(method, SCRIPT)})

    def answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        if status == 401:
            self.send_header("www-authenticate", SIGN_IN)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def refusing() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("401", "It requires another token (status 401)."),
        ("403", "It refuses this token (status 403)."),
        ("429", "It answered with an error: “status 429 Too Many Requests”"),
        ("502", "It answered with an error: “status 502 Bad Gateway”"),
        ("explains", "It answered with an error: “not on Sundays”"),
    ],
)
async def test_a_refused_call_ends_no_other(refusing: str, name: str, reason: str) -> None:
    server = RemoteServer(1, "refusing", "http", url=f"{refusing}/mcp", token="canary")
    async with connected(server, lambda: None) as connection:
        slow = asyncio.create_task(connection.call("slow", {}, lambda *_: None))
        with pytest.raises(Exception) as caught:
            await connection.call(name, {}, lambda *_: None)
        assert in_words(caught.value) == reason
        assert (await slow)["content"] == []


async def test_a_refusal_without_a_token_names_none(refusing: str) -> None:
    async with connected(RemoteServer(1, "refusing", "http", url=f"{refusing}/mcp"), lambda: None) as connection:
        with pytest.raises(Exception) as caught:
            await connection.call("403", {}, lambda *_: None)
    assert in_words(caught.value) == "It refuses requests without a token (status 403)."


async def test_one_that_wants_a_sign_in_is_explained(refusing: str) -> None:
    with pytest.raises(Exception) as caught:
        async with connected(RemoteServer(1, "refusing", "http", url=f"{refusing}/closed"), lambda: None):
            pass
    assert in_words(caught.value).startswith("It requires a token (status 401). It signs people in with OAuth")

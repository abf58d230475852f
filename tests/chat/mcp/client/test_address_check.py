"""Which addresses are asked, and what is never followed, over a real connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from chat.mcp.client.address_check import judged_addresses
from tests.chat.mcp.client.conftest import hosted
from toolsupport.core.errors import ConfigError
from toolsupport.core.remote_tools import RemoteServer
from toolsupport.providers.dns import AddressResolver


@pytest.mark.asyncio
async def test_a_name_that_leads_to_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="which is never contacted"):
        await judged_addresses("169.254.169.254")


class Turning(BaseHTTPRequestHandler):
    """Answers every question with a status that its path names."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.asked.append(f"{self.path} {self.headers['authorization']}")
        body = b"x" * 9_000_000 if self.path.endswith("large") else b""
        self.send_response(int(self.path[1:4]))
        self.send_header("location", "/200?key=canary#top")
        self.send_header("content-length", str(len(body)))
        self.send_header("content-type", "application/json")
        if self.path.endswith("packed"):
            self.send_header("content-encoding", "gzip")
        self.end_headers()
        with suppress(OSError):  # whoever asked hangs up
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def turning() -> Iterator[str]:
    Turning.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Turning) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/307", "redirects (status 307), which is not followed. Enter the address it sends to: /200."),
        ("/301", "redirects (status 301), which is not followed."),
        ("/401", "requires another token (status 401)"),
        ("/403", "refuses this token (status 403)"),
        ("/200packed", "sends compressed answers"),
        ("/405", "takes no messages at this address (status 405)"),
        ("/407", "requires a password (status 407)"),
        ("/500", "answered with an error: “status 500 Internal Server Error”"),
        ("/200large", "more than 8 MiB"),
    ],
)
async def test_what_is_refused_says_why(turning: str, path: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with hosted(RemoteServer(1, "turning", "http", url=turning + path, token="canary")) as (_, received):
        await received.until(failures=1)
    assert why in received.failures[0] and "canary" not in received.failures[0]
    assert {line for line in Turning.asked} == {f"{path} Bearer canary"}


@pytest.mark.asyncio
@pytest.mark.parametrize("addresses", [["::1", "127.0.0.1"], ["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "::1"]])
async def test_each_address_of_a_name_is_tried(
    turning: str, addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most systems give `::1` first for `localhost`, where most servers do not listen."""

    async def resolve(_: object, host: str, port: int = 0, family: int = 0) -> list[dict[str, str]]:
        return [{"host": address} for address in addresses]

    monkeypatch.setattr(AddressResolver, "resolve", resolve)
    url = turning.replace("127.0.0.1", "localhost") + "/500"
    async with hosted(RemoteServer(1, "turning", "http", url=url, token="canary")) as (_, received):
        await received.until(failures=1)
    assert "status 500" in received.failures[0]

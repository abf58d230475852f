"""Sent or unread data of clients cannot fill the memory of a running server."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from tests.serving import Site, new_chat, sign_in
from toolsupport.registry.people import session_store
from toolsupport.web import server
from toolsupport.web.server import BoundedRequest, BoundedServer

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with closing(sign_in(site)) as browser:
        yield browser


def memory(site: Site, field: str = "VmRSS") -> int:
    """Bytes the server's process has in memory."""
    assert site.process
    lines = Path(f"/proc/{site.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def fresh_peak(site: Site) -> int:
    """Forget what the process held at most so far; gives what it holds now."""
    assert site.process
    Path(f"/proc/{site.process.pid}/clear_refs").write_text("5")
    return memory(site)


def pieces(mib: int) -> Iterator[bytes]:
    for _ in range(mib * 4):
        yield b"x" * (MIB // 4)


# SAFETY 1.5
@pytest.mark.parametrize("length", [{"Content-Length": str(300 * MIB)}, {"Transfer-Encoding": "chunked"}], ids=str)
def test_a_huge_body_is_refused_and_not_kept(site: Site, length: dict[str, str]) -> None:
    before = fresh_peak(site)
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    with closing(connection):
        chunked = "Transfer-Encoding" in length
        connection.request("POST", "/login/", pieces(300), headers=length, encode_chunked=chunked)
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Content-Security-Policy"] is not None) == (413, True)
        assert b"larger than" in answer.read()
    assert memory(site, "VmHWM") - before < 40 * MIB


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1?a=b"])
def test_a_program_reads_of_a_huge_body_in_words_it_knows(site: Site, path: str) -> None:  # G4
    with closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)) as connection:
        connection.request("POST", path, pieces(9), encode_chunked=True)
        answer = connection.getresponse()
        error = json.loads(answer.read())["error"]
    assert (answer.status, answer.headers["Content-Type"]) == (413, "application/json")
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", None, None)


def test_the_files_panel_says_itself_that_an_upload_is_too_large(site: Site, client: httpx.Client) -> None:
    path = f"/chat/{new_chat(client)}/files/"
    before = fresh_peak(site)
    headers = {"Content-Length": str(120 * MIB), "X-CSRFToken": client.cookies["csrftoken"]}
    answer = client.post(path, content=pieces(120), headers=headers)
    assert answer.status_code == 413 and "All files together can have" in answer.text
    assert memory(site, "VmHWM") - before < 40 * MIB


# SAFETY 2
@pytest.mark.parametrize("cookie", ["", "sessionid=forged"])
def test_an_upload_of_a_stranger_is_not_kept(site: Site, cookie: str) -> None:
    before = fresh_peak(site)
    path = f"/chat/{uuid.uuid4()}/files/"
    headers = {"Content-Length": str(90 * MIB), "Cookie": cookie}
    answer = httpx.post(site.url + path, content=pieces(90), headers=headers, trust_env=False, timeout=30)
    assert (answer.status_code, answer.headers["location"].startswith("/login/")) == (302, True)
    assert memory(site, "VmHWM") - before < 40 * MIB


def test_a_body_of_an_ordinary_size_comes_through(client: httpx.Client) -> None:
    path = f"/chat/{new_chat(client)}/files/"
    sent = {"files": ("big.bin", b"y" * (9 * MIB))}
    answer = client.post(path, files=sent, headers={"X-CSRFToken": client.cookies["csrftoken"]})
    assert answer.status_code == 200 and "Uploaded big.bin" in answer.text
    assert len(client.get(f"{path}download/", params={"path": "big.bin"}).content) == 9 * MIB


def test_a_download_that_is_not_read_waits_in_the_file(site: Site, client: httpx.Client) -> None:
    conversation = new_chat(client)
    path = f"/chat/{conversation}/files/"
    assert client.get(path).status_code == 200
    workspace = site.directory / "workspaces" / conversation
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "big.bin").touch()
    os.truncate(workspace / "big.bin", 90 * MIB)
    before = memory(site)
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    head = f"GET {path}download/?path=big.bin HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nCookie: {cookies}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", site.port)) as reader:
        reader.sendall(head.encode())
        assert reader.recv(15) == b"HTTP/1.1 200 OK"
        # Another request of the same server tells that this one had its time.
        for _ in range(20):
            assert client.get("/healthz").status_code == 200
        assert memory(site) - before < 20 * MIB
        got = 15
        while got < 90 * MIB:
            got += len(reader.recv(MIB))


def test_a_header_does_not_move_the_site(site: Site) -> None:
    answer = httpx.get(f"{site.url}/", headers={"Daphne-Root-Path": "//evil.example"}, trust_env=False)
    assert (answer.status_code, answer.headers["location"]) == (302, "/login/")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1@evil.example", "evil.example/?127.0.0.1"])
def test_another_host_is_refused_however_it_is_forwarded(site: Site, host: str) -> None:
    for header in ("Host", "X-Forwarded-Host"):
        with closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=20)) as connection:
            connection.request("GET", "/login/", headers={header: host})
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == (400 if header == "Host" else 200)
            assert b"evil" not in body


@pytest.mark.parametrize(
    "path", ["/login/", "/nothing/", "/healthz", "/static/css/base.css", "/static/img/icons.svg", "/static/no", "/%ff"]
)
def test_every_answer_has_the_protecting_headers(site: Site, path: str) -> None:
    headers = httpx.get(site.url + path, trust_env=False).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "python" not in headers.get("server", "").lower() and "daphne" not in headers.get("server", "").lower()


def test_what_daphne_answers_itself_has_them_too(site: Site) -> None:
    with closing(socket.create_connection(("127.0.0.1", site.port))) as plain:
        plain.sendall(b"GET /login/ HTTP/1.1\r\nHost: x\r\nOdd: \x01\r\nConnection: close\r\n\r\n")
        got = b"".join(iter(lambda: plain.recv(65536), b""))
    assert got.startswith(b"HTTP/1.1 400") and b"default-src 'none'" in got and b"<style" not in got


@pytest.mark.parametrize("path", ["/models/", "/chat/{}/", "/chat/{}/messages/", "/chat/{}/files/", "/admin/"])
def test_private_pages_are_not_kept_by_anybody(client: httpx.Client, path: str) -> None:
    answer = client.get(path.format(new_chat(client)))
    assert answer.status_code == 200
    assert "no-store" in answer.headers["cache-control"] and "private" in answer.headers["cache-control"]


class FakeChannel:
    """The part of Twisted's channel that a request uses, with what it was told."""

    _path = b"/chat/00000000-0000-0000-0000-000000000000/files/"

    def __init__(self) -> None:
        self.told: list[str] = []
        self._networkProducer = self
        self.place = SimpleNamespace(hold=lambda count: True)

    def pauseProducing(self) -> None:
        self.told.append("pause")

    def resumeProducing(self) -> None:
        self.told.append("resume")


@contextmanager
def upload_of(length: int) -> Iterator[BoundedRequest]:
    request = BoundedRequest.__new__(BoundedRequest)
    request.channel, request.received_cookies = FakeChannel(), {b"sessionid": b"key"}
    request.gotLength(length)
    with closing(request.content):
        yield request


@pytest.mark.asyncio
@pytest.mark.parametrize("signed_in", [True, False])
async def test_a_slow_lookup_of_the_session_stops_only_its_upload(
    monkeypatch: pytest.MonkeyPatch, signed_in: bool
) -> None:
    answer = threading.Event()
    monkeypatch.setattr(session_store, "lets_in", lambda key: answer.wait(30) and signed_in)
    monkeypatch.setattr(server, "PATIENCE", 30)
    # A lookup in the loop would wait in this line.
    with upload_of(20 * MIB) as request:
        for _ in range(8):
            request.handleContentChunk(b"x" * MIB)
        assert request.channel.told == ["pause"] and request.content.tell() == 8 * MIB
        asked = request.asked
        assert asked is not None
        answer.set()
        await asked
        await asyncio.sleep(0)  # the request's own callback was added first, and has run
        assert request.channel.told == ["pause", "resume"]
        assert (request.too_large, request.content.tell()) == ((False, 8 * MIB) if signed_in else (True, 0))


@pytest.mark.asyncio
async def test_a_lookup_that_takes_too_long_drops_the_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = threading.Event()
    monkeypatch.setattr(session_store, "lets_in", lambda key: answer.wait(30))
    monkeypatch.setattr(server, "PATIENCE", 0.01)
    with upload_of(20 * MIB) as request:
        assert request.asked is not None
        with suppress(asyncio.CancelledError):
            await request.asked
        answer.set()
        assert request.too_large


@pytest.mark.asyncio
async def test_a_half_request_does_not_keep_others_from_being_ended() -> None:
    stopping = BoundedServer.__new__(BoundedServer)
    running = asyncio.get_running_loop().create_future()
    stopping.connections = {"half": {}, "whole": {"application_instance": running}}
    await stopping.kill_all_applications().asFuture(asyncio.get_running_loop())
    assert running.cancelled()

"""One client can hold neither connections nor memory without limit, shown on real sockets with small limits."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests import databases
from tests.tables import every
from toolsupport.web.connection_table import ConnectionLimits

PATIENCE = 20.0
MIB = 1024 * 1024
LIMITS = ConnectionLimits(
    total=24,
    per_address=8,
    head=0.4,
    idle=0.6,
    body=0.4,
    whole_body=1.2,
    reader=0.5,
    closing=0.3,
    body_rate=100_000,
    read_rate=10 * MIB,
    bodies=64 * MIB,
    address_bodies=10 * MIB,
)
HEAD = b"GET %s HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
addresses = (f"127.0.{1 + number // 250}.{1 + number % 250}" for number in count())


@dataclass
class Limited:
    """The running server; `address` makes each test a client of its own."""

    port: int
    pid: int
    log: Path

    def connect(self, address: str, receive: int = 0) -> socket.socket:
        client = socket.socket()
        if receive:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.bind((address, 0))
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", self.port))
        return client

    def ask(self, path: str, address: str = "") -> dict[str, Any]:
        with closing(self.connect(address or next(addresses))) as client:
            client.sendall(HEAD % path.encode() + b"Connection: close\r\n\r\n")
            return dict(json.loads(rest(client).partition(b"\r\n\r\n")[2]))

    def memory(self, kind: str = "VmRSS") -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{kind}:"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    with limited(tmp_path_factory.mktemp("limited"), LIMITS) as running:
        yield running


@contextmanager
def limited(directory: Path, limits: ConnectionLimits) -> Iterator[Limited]:
    chosen = {name: value for name, value in asdict(limits).items() if name != "proxies"}
    env = {**os.environ, "TOOLSUPPORT_DATA_DIR": str(directory)}
    command = [sys.executable, "-m", "tests.toolsupport.web.limited_server", json.dumps(chosen)]
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=databases.ROOT, env=env, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout
    try:
        yield Limited(int(process.stdout.readline()), process.pid, directory / "log")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def address() -> str:
    return next(addresses)


def rest(client: socket.socket) -> bytes:
    """All that comes until the server closes. Raises TimeoutError if it does not."""
    got = b""
    with suppress(ConnectionResetError):
        while data := client.recv(65536):
            got += data
    return got


def some(client: socket.socket) -> bytes:
    data = client.recv(65536)
    assert data, "the server closed the connection"
    return data


def drip(client: socket.socket, data: bytes, pause: float = 0.05) -> tuple[bytes, float]:
    """Send the same again and again until the server answers or closes; gives the answer and the seconds."""
    began = time.monotonic()
    client.settimeout(pause)
    while time.monotonic() - began < PATIENCE:
        try:
            client.sendall(data)
            got = client.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            return b"", time.monotonic() - began
        return got, time.monotonic() - began
    raise AssertionError("the server never closed the connection")


# S7
def test_a_half_request_is_ended_however_often_a_line_is_added(server: Limited, address: str) -> None:
    with closing(server.connect(address)) as client:
        client.sendall(POST)
        got, seconds = drip(client, b"X-Line: 1\r\n")
    assert got.startswith(b"HTTP/1.1 408 ") and b"took too long" in got
    assert b"content-security-policy" in got.lower() and seconds < 5
    with closing(server.connect(address)) as client:
        assert rest(client) == b""  # nothing was sent at all


def test_a_kept_connection_serves_and_is_ended_when_idle(server: Limited, address: str) -> None:
    with closing(server.connect(address)) as client:
        for _ in range(3):
            client.sendall(HEAD % b"/" + b"\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(HEAD % b"/")
        assert b" 408 " in rest(client)  # the head of a later request has its time too
    with closing(server.connect(address)) as client:
        client.sendall(HEAD % b"/" + b"\r\n")
        assert b" 408 " not in rest(client)


@pytest.mark.parametrize("head", [b"Content-Length: 1000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"])
def test_a_slow_body_is_ended(server: Limited, address: str, head: bytes) -> None:
    with closing(server.connect(address)) as client:
        client.sendall(POST + head)
        got, seconds = drip(client, b"1\r\nx\r\n")
    assert got.startswith(b"HTTP/1.1 408 ") and seconds < 5


def test_a_body_has_to_flow_and_to_end(server: Limited, address: str) -> None:
    with closing(server.connect(address)) as client:
        client.sendall(POST + b"Content-Length: 400000\r\n\r\n")
        for _ in range(9):
            client.sendall(b"x" * 40_000)
            client.settimeout(0.06)  # in all longer than the time without a byte
            with pytest.raises(TimeoutError):
                client.recv(1)
        client.settimeout(PATIENCE)
        client.sendall(b"x" * 40_000)
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
    with closing(server.connect(address)) as client:
        client.sendall(POST + b"Content-Length: 8000000\r\n\r\n")
        got, seconds = drip(client, b"x" * 10_000)
    assert got.startswith(b"HTTP/1.1 408 ") and seconds < 5


def test_one_address_cannot_take_the_places_of_others(server: Limited, address: str) -> None:
    with ExitStack() as stack:
        hanging = [stack.enter_context(closing(server.connect(address))) for _ in range(LIMITS.per_address)]
        for one in hanging:
            one.sendall(HEAD % b"/hang" + b"\r\n")
        until(lambda: server.ask("/state")["phases"].get("ANSWER", 0) > LIMITS.per_address)
        refused = stack.enter_context(closing(server.connect(address)))
        assert rest(refused) == b""
        assert server.ask("/state")["phases"]["ANSWER"] > LIMITS.per_address
        hanging[0].close()
        until(lambda: served(server, address))


def served(server: Limited, address: str) -> bool:
    try:
        return bool(server.ask("/", address))
    except (OSError, ValueError):
        return False


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, "it never happened"


def test_a_new_connection_takes_the_place_of_the_oldest_that_waits(server: Limited, address: str) -> None:
    with ExitStack() as stack:
        for wave in (address, next(addresses), next(addresses), next(addresses)):
            halves = [stack.enter_context(closing(server.connect(wave))) for _ in range(LIMITS.per_address + 2)]
            for one in halves:
                with suppress(OSError):
                    one.sendall(POST)
            assert served(server, wave)
        assert rest(halves[0]) == b""  # closed at once, without 408
        assert sum(server.ask("/state")["phases"].values()) <= LIMITS.total


@pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"], ids=["kept", "closed"])
def test_an_answer_that_is_not_read_is_dropped(server: Limited, address: str, more: bytes) -> None:
    with closing(server.connect(address, receive=4096)) as client:
        client.sendall(HEAD % b"/big" + more + b"\r\n")
        assert client.recv(8) == b"HTTP/1.1"
        until(lambda: server.ask("/state")["phases"] == {"ANSWER": 1})
        assert len(rest(client)) < 15 * MIB


def test_requests_that_follow_wait_until_the_answer_was_read(server: Limited, address: str) -> None:
    before = server.ask("/state")["seen"].get("/medium", 0)
    with closing(server.connect(address, receive=4096)) as client:
        client.sendall((HEAD % b"/medium" + b"\r\n") * 300)
        until(lambda: "READER" in server.ask("/state")["phases"])
        assert server.ask("/state")["seen"]["/medium"] - before < 100
    with closing(server.connect(next(addresses))) as client:
        client.sendall((HEAD % b"/medium" + b"\r\n") * 50)
        got = 0
        while got < 50 * 100 * 1024:
            got += len(some(client))


def test_half_closed_peers_are_forgotten(server: Limited, address: str) -> None:
    with ExitStack() as stack:
        for sent in (b"", POST, POST + b"Content-Length: 9\r\n\r\nx", HEAD % b"/hang" + b"\r\n"):
            client = stack.enter_context(closing(server.connect(address)))
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            assert b" 200 " not in rest(client)
    until(lambda: server.ask("/state")["phases"] == {"ANSWER": 1})


TLS = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(32, 127)) * 3
BAD = [
    ("many headers", POST + b"X: 1\r\n" * 400 + b"\r\n", b"431"),
    ("a long line", POST + b"X: " + b"y" * 40_000 + b"\r\n\r\n", b"431"),
    ("a long line without an end", b"GET /" + b"y" * 40_000, b"431"),
    ("folded headers", POST + b"X: 1\r\n" + b" y\r\n" * 20_000, b"431"),
    ("tiny chunks", POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 5000, b"400"),
    ("a bad chunk", POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
    ("two lengths", POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
    ("a length that is no number", POST + b"Content-Length: -1\r\n\r\n", b"400"),
    ("a length and chunks", POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"),
    ("no colon", POST + b"what is this\r\n\r\n", b"400"),
    ("TLS", TLS, b"408"),
    ("TLS with line ends", TLS + b"\r\n\r\n" + TLS, b"400"),
    ("zeros", bytes(3000) + b"\r\n\r\n", b"400"),
    ("only line ends", b"\r\n" * 3000, b"400"),
]


@every("name, sent, status", BAD)
def test_what_is_no_request_is_refused_in_one_line(server: Limited, name: str, sent: bytes, status: bytes) -> None:
    before = server.log.read_text()
    with closing(server.connect(next(addresses))) as client:
        with suppress(OSError):
            client.sendall(sent)
        got = rest(client)
    assert not got or (got.startswith(b"HTTP/1.1 " + status) and got.count(b"HTTP/1.1") == 1), got
    # The application of an earlier test, which hangs, is killed ten seconds after its client left.
    lines = [
        line for line in server.log.read_text()[len(before) :].splitlines() if "took too long to shut down" not in line
    ]
    assert len(lines) == 1 and "refused a request" in lines[0], lines


def test_chunks_of_an_ordinary_size_come_through(server: Limited, address: str) -> None:
    with closing(server.connect(address)) as client:
        client.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"400\r\n" * 0)
        client.sendall((b"400\r\n" + b"x" * 1024 + b"\r\n") * 2000 + b"0\r\n\r\n")
        assert b'"length": 2048000' in client.recv(65536)


def test_bodies_of_one_address_are_not_held_without_limit(server: Limited, address: str) -> None:
    head = POST + b"Content-Length: %d\r\n\r\n"
    with ExitStack() as stack:
        clients = [stack.enter_context(closing(server.connect(address))) for _ in range(3)]
        for one in clients[:2]:
            one.sendall(head.replace(b"/", b"/hang", 1) % (5 * MIB - 1000) + b"x" * (5 * MIB - 1000))
        until(lambda: server.ask("/state")["phases"].get("ANSWER", 0) == 3)
        with suppress(OSError):
            clients[2].sendall(head % 100_000 + b"x" * 100_000)
        assert rest(clients[2]).startswith(b"HTTP/1.1 503 ")
        assert served(server, next(addresses))
    until(lambda: server.ask("/state")["phases"] == {"ANSWER": 1})
    with closing(server.connect(address)) as client:
        client.sendall(head % 100_000 + b"x" * 100_000)
        assert client.recv(65536).startswith(b"HTTP/1.1 200")


def test_forms_are_not_parsed_by_the_server(server: Limited, address: str) -> None:
    form = b"a&" * 3 * MIB
    Path(f"/proc/{server.pid}/clear_refs").write_text("5")
    before = server.memory("VmHWM")
    with closing(server.connect(address)) as client:
        kind = b"Content-Type: application/x-www-form-urlencoded\r\n"
        client.sendall(POST + kind + b"Content-Length: %d\r\n\r\n" % len(form) + form)
        assert b'"length": %d' % len(form) in client.recv(65536)
    assert server.memory("VmHWM") - before < 60 * MIB


def upgrade(client: socket.socket, path: bytes) -> None:
    key = base64.b64encode(os.urandom(16))
    more = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key
    client.sendall(HEAD % path + more + b"\r\n\r\n")


def frame(opcode: int, data: bytes) -> bytes:
    """One masked frame with a mask of zeros."""
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack("!H", len(data))
    return bytes([0x80 | opcode]) + size + bytes(4) + data


def sent_until_blocked(client: socket.socket, data: bytes) -> int:
    """Bytes that the server and the system take in half a second, then no more."""
    client.settimeout(0.5)
    total = 0
    with suppress(TimeoutError, OSError):
        while total < 200 * MIB:
            total += client.send(data)
    return total


def test_a_handshake_that_the_site_never_answers_is_ended(server: Limited, address: str) -> None:
    with closing(server.connect(address)) as client:
        upgrade(client, b"/ws/never")
        assert b"101" not in rest(client)
    with closing(server.connect(address)) as client:
        upgrade(client, b"/ws/never")
        upgrade(client, b"/ws/never")
        assert rest(client) == b""
    assert "Traceback" not in server.log.read_text()


# S2: 64 KiB, which are read at once, hold 11,000 empty frames.
@pytest.mark.parametrize("unit", [frame(9, b""), frame(10, b"p" * 125), b"\x00\x80" + bytes(4)])
def test_more_frames_than_a_page_sends_end_the_connection(server: Limited, address: str, unit: bytes) -> None:
    """Pings, pongs, and pieces of one message: neither of them is a message, whose number the site limits."""
    before = server.memory()
    with closing(server.connect(address)) as client:
        upgrade(client, b"/ws/echo")
        assert b" 101 " in client.recv(1024)
        client.sendall(b"\x01\x80" + bytes(4) if unit[0] == 0 else b"")
        with pytest.raises(OSError):
            for _ in range(400):
                client.sendall(unit * 5000)
    assert server.memory() - before < 20 * MIB and "more than 1,000 frames in 10 s" in server.log.read_text()
    assert "Traceback" not in server.log.read_text()


def test_pieces_of_an_ordinary_message_come_through(server: Limited, address: str) -> None:
    with closing(server.connect(address)) as client:
        upgrade(client, b"/ws/echo")
        assert b" 101 " in client.recv(1024)
        client.sendall(b"\x01\x81" + bytes(4) + b"a" + (b"\x00\x81" + bytes(4) + b"a") * 900 + b"\x80\x80" + bytes(4))
        got = b""
        while b"901" not in got:
            got += some(client)


def test_frames_that_the_site_does_not_take_wait_outside(server: Limited, address: str) -> None:
    before = server.memory()
    with closing(server.connect(address)) as client:
        upgrade(client, b"/ws/busy")
        assert b" 101 " in client.recv(1024)
        sent = sent_until_blocked(client, frame(1, b"m" * 60_000))
        assert sent < 100 * MIB and server.memory() - before < 20 * MIB
        server.ask("/open")
        client.settimeout(PATIENCE)
        wanted, got = sent // len(frame(1, b"m" * 60_000)), b""
        while got.count(b"60000") < wanted:
            got += some(client)

"""A client's fault leaves one line in the log at most, and never a traceback."""

from __future__ import annotations

import base64
import os
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from tests.serving import Site, new_chat, sign_in
from tests.tables import every

GET = b"GET / HTTP/1.1\r\n"
HOST = b"Host: 127.0.0.1\r\n"
POST = b"POST /login/ HTTP/1.1\r\n" + HOST
END = b"Connection: close\r\n\r\n"
FORM = b"Content-Type: multipart/form-data; boundary=%s\r\nContent-Length: %d\r\n"

REQUESTS = {
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/1.0": b"GET /login/ HTTP/1.0\r\n\r\n",
    "another version": b"GET / HTTP/9.9\r\n" + HOST + END,
    "no HTTP": b"GET / FOO/1.1\r\n" + HOST + END,
    "words": b"good evening\r\n\r\n",
    "a method of control characters": b"\x01\x02 / HTTP/1.1\r\n" + HOST + END,
    "another method": b"FOO /login/ HTTP/1.1\r\n" + HOST + END,
    "another site": GET + b"Host: evil.example\r\n" + END,
    "a host with a space": GET + b"Host: a b\r\n" + END,
    "a host that is no text": GET + b"Host: \xff\xfe\r\n" + END,
    "no host": GET + END,
    "two hosts": GET + HOST + HOST + END,
    "a length that is no number": POST + b"Content-Length: ten\r\n\r\n",
    "a negative length": POST + b"Content-Length: -1\r\n\r\n",
    "a long length": POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "two lengths": POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "another encoding": POST + b"Transfer-Encoding: gzip\r\n\r\n",
    "a chunk without a length": POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "a negative chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
    "a path that is no text": b"GET /\xff\xfe HTTP/1.1\r\n" + HOST + END,
    "a path of other bytes": b"GET /%ff%fe%00 HTTP/1.1\r\n" + HOST + END,
    "a query that is no text": b"GET /?\xff HTTP/1.1\r\n" + HOST + END,
    "a whole address": b"GET http://evil.example/login/ HTTP/1.1\r\n" + HOST + END,
    "an address that cannot be parsed": b"GET http://[::1/login/ HTTP/1.1\r\n" + HOST + END,
    "a star": b"OPTIONS * HTTP/1.1\r\n" + HOST + END,
    "a tunnel": b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + END,
    "a header name that is none": GET + HOST + b"A B: 1\r\n" + END,
    "a header of control characters": GET + HOST + b"Odd: \x01\r\n" + END,
    "a header with NUL": GET + HOST + b"Odd: \x00\r\n" + END,
    "a header without a name": GET + HOST + b": 1\r\n" + END,
    "odd cookies": GET + HOST + b"Cookie: =; ; sessionid=\xff; =;a\r\n" + END,
    "an odd language": GET + HOST + b"Accept-Language: " + b"x" * 500 + b"\r\n" + END,
    "a form with an odd boundary": POST + FORM % (b"\xff", 5) + END + b"12345",
    "a form that is cut": POST + FORM % (b"x", 30) + END + b"--x\r\nContent-Disposition: form-d",
    "an odd charset": POST + b"Content-Type: application/x-www-form-urlencoded; charset=odd\r\nContent-Length: 3\r\n"
    + END + b"a=b",
    "a program's bad JSON": b"POST /v1/chat/completions HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n" + END + b"{",
    "an odd key": b"GET /v1/models HTTP/1.1\r\n" + HOST + b"Authorization: Bearer \xff\xfe\r\n" + END,
}  # fmt: skip


def handshake(*changes: bytes, path: bytes = b"/ws/nothing/", start: bytes = b"", without: bytes = b"-") -> bytes:
    key = base64.b64encode(os.urandom(16))
    fields = [b"Host: 127.0.0.1", b"Upgrade: websocket", b"Connection: Upgrade", b"Origin: %(origin)s"]
    fields += [b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: " + key, b"Cookie: %(cookie)s"]
    kept = [field for field in fields if not field.startswith(without)]
    return b"\r\n".join([start or b"GET " + path + b" HTTP/1.1", *kept, *changes]) + b"\r\n\r\n"


HANDSHAKES = {
    "an unknown path": handshake(),
    "no conversation": handshake(path=b"/ws/chat/00000000-0000-0000-0000-000000000000/"),
    "a path of other bytes": handshake(path=b"/ws/%ff%00/"),
    "a path that is no text": handshake(path=b"/ws/\xff/"),
    "a fragment": handshake(path=b"/ws/nothing/#a"),
    "a path that cannot be parsed": handshake(path=b"http://[::1/ws"),
    "another version": handshake(b"Sec-WebSocket-Version: 12", without=b"Sec-WebSocket-Version"),
    "a version that is no number": handshake(b"Sec-WebSocket-Version: x", without=b"Sec-WebSocket-Version"),
    "two versions": handshake(b"Sec-WebSocket-Version: 13"),
    "no key": handshake(without=b"Sec-WebSocket-Key"),
    "a short key": handshake(b"Sec-WebSocket-Key: YWJj", without=b"Sec-WebSocket-Key"),
    "no origin": handshake(without=b"Origin"),
    "another origin": handshake(b"Origin: https://evil.example", without=b"Origin"),
    "an origin that cannot be parsed": handshake(b"Origin: http://[", without=b"Origin"),
    "an origin that is no text": handshake(b"Origin: \xff", without=b"Origin"),
    "no host": handshake(without=b"Host"),
    "another port": handshake(b"Host: 127.0.0.1:x", without=b"Host"),
    "no connection header": handshake(without=b"Connection"),
    "HTTP/1.0": handshake(start=b"GET /ws/nothing/ HTTP/1.0"),
    "another method": handshake(start=b"POST /ws/nothing/ HTTP/1.1"),
    "a body": handshake(b"Content-Length: 5") + b"12345",
    "an odd protocol": handshake(b"Sec-WebSocket-Protocol: \xff,,%ff"),
    "an empty protocol": handshake(b"Sec-WebSocket-Protocol: a,,a"),
    "an odd extension": handshake(b"Sec-WebSocket-Extensions: ;;=,\xff"),
    "an odd header": handshake(b"X-Odd: \xc3\xa9"),
    "an odd cookie": handshake(b"Cookie: sessionid=\xff", without=b"Cookie"),
    "two handshakes": handshake() + handshake(),
}


def frame(first: int, data: bytes, masked: bool = True, size: bytes = b"") -> bytes:
    mask = 0x80 if masked else 0
    short = bytes([mask | len(data)]) if len(data) < 126 else bytes([mask | 126]) + struct.pack("!H", len(data) % 65536)
    return bytes([first]) + (size or short) + (bytes(4) if masked else b"") + data


HUGE = b"\xff" + struct.pack("!Q", 300_000)
FRAMES = {
    "a frame that is too large": frame(0x81, b"x" * 300_000, size=HUGE),
    "a message that is too large": frame(0x01, b"x" * 60_000) + frame(0x00, b"x" * 60_000) * 5,
    "a length of 63 bits": frame(0x81, b"", size=b"\xff" + b"\x7f" + b"\xff" * 7),
    "a length of 64 bits": frame(0x81, b"", size=b"\xff" + b"\xff" * 8),
    "a length that is too long": frame(0x81, b"x", size=b"\xfe\x00\x01"),
    "no text": frame(0x81, b"\xff\xfe"),
    "a cut letter": frame(0x81, b"\xe2\x82"),
    "an unknown kind": frame(0x83, b""),
    "an unknown control": frame(0x8B, b""),
    "reserved bits": frame(0xF1, b""),
    "no mask": frame(0x81, b"{}", masked=False),
    "a large ping": frame(0x89, b"x" * 126),
    "a ping in pieces": frame(0x09, b""),
    "a piece of nothing": frame(0x80, b"x"),
    "a message within another": frame(0x01, b"x") + frame(0x81, b"x"),
    "a pong that was not asked for": frame(0x8A, b"x") + frame(0x88, struct.pack("!H", 1000)),
    "close code 0": frame(0x88, struct.pack("!H", 0)),
    "close code 999": frame(0x88, struct.pack("!H", 999)),
    "close code 1005": frame(0x88, struct.pack("!H", 1005)),
    "close code 65535": frame(0x88, struct.pack("!H", 65535)),
    "half a close code": frame(0x88, b"\x03"),
    "a close reason that is no text": frame(0x88, struct.pack("!H", 1000) + b"\xff"),
    "frames after a close": frame(0x88, struct.pack("!H", 1000)) + frame(0x81, b"{}") * 3,
    "a binary frame": frame(0x82, b"{}") + frame(0x88, struct.pack("!H", 1000)),
    "half a frame": frame(0x81, b"x" * 100)[:50],
    "a compressed frame, which nobody agreed on": frame(0xC1, zlib.compress(b"{}")),
    "nothing": b"",
}


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with closing(sign_in(site)) as browser:
        yield browser


def exchange(site: Site, sent: bytes, then: bytes = b"") -> bytes:
    """Send, then send more when something came back, close our half, read to the end."""
    got = b""
    with closing(socket.create_connection(("127.0.0.1", site.port), timeout=30)) as plain, suppress(OSError):
        plain.sendall(sent)
        if b" 101 " in (got := plain.recv(65536)):
            plain.sendall(then)
            if not then or len(then) == 50:
                plain.shutdown(socket.SHUT_WR)
        while data := plain.recv(65536):
            got += data
    return got


def lines_of(site: Site, act: Callable[[], bytes]) -> tuple[bytes, list[str]]:
    """What came back, and what was added to the log besides the line that each request has."""
    log = Path(site.directory, "serve.log")
    before = log.stat().st_size
    got = act()
    added = log.read_bytes()[before:].decode().splitlines()
    return got, [line for line in added if "toolsupport.web.request_log" not in line]


def signed(sent: bytes, site: Site, client: httpx.Client) -> bytes:
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    return sent.replace(b"%(cookie)s", cookies.encode()).replace(b"%(origin)s", site.url.encode())


def expect_a_line(lines: list[str]) -> None:
    assert len(lines) <= 1 and not any("Traceback" in line or " ERROR " in line for line in lines), "\n".join(lines)


@every("name, sent", REQUESTS.items())
def test_a_bad_request_is_one_line(site: Site, name: str, sent: bytes) -> None:
    got, lines = lines_of(site, lambda: exchange(site, sent))
    assert got.count(b"HTTP/1.") == 1 and b" 500 " not in got.split(b"\r\n")[0], got
    expect_a_line(lines)


@every("name, sent", HANDSHAKES.items())
def test_a_bad_handshake_is_one_line(site: Site, client: httpx.Client, name: str, sent: bytes) -> None:
    got, lines = lines_of(site, lambda: exchange(site, signed(sent, site, client)))
    assert b" 101 " not in got and b" 500 " not in got.split(b"\r\n")[0], got
    expect_a_line(lines)


@every("name, sent", FRAMES.items())
def test_a_bad_frame_is_one_line(site: Site, client: httpx.Client, name: str, sent: bytes) -> None:
    path = f"/ws/chat/{new_chat(client)}/".encode()
    opening = signed(handshake(b"Sec-WebSocket-Extensions: permessage-deflate", path=path), site, client)
    got, lines = lines_of(site, lambda: exchange(site, opening, sent))
    assert b" 101 " in got and b"permessage-deflate" not in got
    expect_a_line(lines)


def test_what_went_wrong_before_is_not_reported_later(site: Site, client: httpx.Client) -> None:
    """The server looks at ended applications once a second."""
    for sent in (handshake(), handshake(path=b"/ws/chat/00000000-0000-0000-0000-000000000000/")):
        exchange(site, signed(sent, site, client))
    with closing(socket.create_connection(("127.0.0.1", site.port), timeout=1.3)) as plain:
        plain.sendall(signed(handshake(), site, client)[:200])
        with pytest.raises(TimeoutError):
            plain.recv(1)
    assert "Traceback" not in Path(site.directory, "serve.log").read_text()

"""The files for nginx and Caddy, with two processes behind them: sockets, streams, addresses, a process that ends."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests import databases, house
from tests.chat.test_end_to_end import choose
from tests.installed import needs
from tests.serving import ADMIN, PATIENCE, Page, Site, free_port, serving

FILES = house.ROOT / "docs" / "deploy"
NAME = "chat.example.org"
PAGES = 8
SPOOFED = "203.0.113.9"


@dataclass(frozen=True)
class Front:
    """A proxy that listens at `port`, with its two processes."""

    port: int
    sites: tuple[Site, Site]

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    def browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, verify=False, follow_redirects=True, timeout=PATIENCE, trust_env=False)


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost, signed by itself, and its key."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")]),
    )
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    files = folder / "fullchain.pem", folder / "privkey.pem"
    files[0].write_bytes(made.public_bytes(pem))
    files[1].write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return files


def with_ports(text: str, sites: tuple[Site, Site]) -> str:
    """The file with the addresses of these processes; each must stand in it."""
    for usual, site in zip(("127.0.0.1:8001", "127.0.0.1:8002"), sites, strict=True):
        assert usual in text
        text = text.replace(usual, f"127.0.0.1:{site.port}")
    return text


def nginx(folder: Path, front: Front) -> list[str]:
    """Our file within a configuration that needs no rights of root."""
    text = with_ports((FILES / "nginx.conf").read_text(), front.sites)
    changes = {
        "listen 443 ssl;": f"listen 127.0.0.1:{front.port} ssl;",
        "listen [::]:443 ssl;": f"listen [::1]:{front.port} ssl;",
        "listen 80;": f"listen 127.0.0.1:{free_port()};",
        "listen [::]:80;": f"listen [::1]:{free_port()};",
        "/etc/ssl/toolsupport": str(folder),
    }
    for usual, ours in changes.items():
        assert usual in text
        text = text.replace(usual, ours)
    (folder / "site.conf").write_text(text)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"worker_processes 1; pid {folder}/pid; error_log {folder}/error.log; events {{ worker_connections 512; }}"
        f"http {{ access_log off; {places} include {folder}/site.conf; }}"
    )
    return ["nginx", "-p", str(folder), "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf", "-g", "daemon off;"]


def caddy(folder: Path, front: Front) -> list[str]:
    text = with_ports((FILES / "Caddyfile").read_text(), front.sites)
    head = f"https://localhost:{front.port} {{\n\tbind 127.0.0.1 ::1\n\ttls {folder}/fullchain.pem {folder}/privkey.pem"
    assert f"{NAME} {{" in text
    options = "{\n\tadmin off\n\tauto_https off\n}\n"
    (folder / "Caddyfile").write_text(options + text.replace(f"{NAME} {{", head))
    return ["caddy", "run", "--adapter", "caddyfile", "--config", f"{folder}/Caddyfile"]


PROXIES: dict[str, Callable[[Path, Front], list[str]]] = {"caddy": caddy, "nginx": nginx}


@contextmanager
def behind(program: str, folder: Path, machines: int) -> Iterator[Front]:
    """Two processes with the settings that the file names, and the proxy in front of them.

    Two machines have PostgreSQL, the keys in the environment, and data directories of their own.
    """
    with databases.database(databases.migrated()) if machines == 2 else nullcontext("") as address:
        apart = {"TOOLSUPPORT_SECRET_KEY": "s" * 50, "TOOLSUPPORT_ENCRYPTION_KEYS": "e" * 50} if address else {}
        places = [folder / f"machine{number}" for number in range(1, machines + 1)] if address else [folder, folder]
        for place in places:
            place.mkdir(exist_ok=True)
        apart["DATABASE_URL"] = address or f"sqlite:///{folder / 'toolsupport.sqlite3'}"
        with proxied(program, folder, places, apart) as front:
            yield front


@contextmanager
def proxied(program: str, folder: Path, places: Sequence[Path], apart: dict[str, str]) -> Iterator[Front]:
    port = free_port()
    environment = {
        **apart,
        "REDIS_URL": databases.needed("TOOLSUPPORT_TEST_REDIS_URL", databases.REDIS),
        "TOOLSUPPORT_ORIGINS": f"https://localhost:{port}",
        "TOOLSUPPORT_ALLOWED_HOSTS": "localhost",
        "TOOLSUPPORT_TRUSTED_PROXIES": "127.0.0.1",
    }
    with serving(places[0], **environment) as first, serving(places[1], **environment) as second:
        front = Front(port, (first, second))
        (folder / "proxy").mkdir()
        certificate(folder / "proxy")
        command = PROXIES[program](folder / "proxy", front)
        with (folder / "proxy/log").open("w") as log:
            process = subprocess.Popen(
                command,
                cwd=folder / "proxy",
                env={"HOME": str(folder), "PATH": f"{PATH}:{os.environ['PATH']}"},
                stderr=log,
            )
        try:
            wait_until_it_listens(front, process, folder / "proxy/log")
            yield front
        finally:
            process.terminate()
            process.wait(PATIENCE)


PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def wait_until_it_listens(front: Front, process: subprocess.Popen[bytes], log: Path) -> None:
    with front.browser() as browser:
        while True:
            assert process.poll() is None, log.read_text()
            with suppress(httpx.TransportError):
                assert browser.get("/healthz").status_code == 200
                return


def sign_in(front: Front, browser: httpx.Client) -> None:
    browser.get("/login/")
    form = {"username": ADMIN[0], "password": ADMIN[1], "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
    browser.post("/login/", data=form, headers={"Referer": front.url})
    assert "sessionid" in browser.cookies


def wrong_password(front: Front, host: str) -> None:
    """Somebody at an address of this kind who states another one than the one that the proxy sees."""
    to = {"Host": f"localhost:{front.port}", "X-Forwarded-For": SPOOFED, "Referer": front.url}
    named: dict[str, Any] = {"headers": to, "extensions": {"sni_hostname": "localhost"}}
    with httpx.Client(base_url=f"https://{host}:{front.port}", verify=False, timeout=PATIENCE, trust_env=False) as one:
        one.get("/login/", **named)
        form = {"username": ADMIN[0], "password": "wrong", "csrfmiddlewaretoken": one.cookies["csrftoken"]}
        assert one.post("/login/", data=form, **named).status_code == 200


def too_large(front: Front) -> bytes:
    """The first line of the answer to a body that is larger than the largest upload."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    head = f"POST /login/ HTTP/1.1\r\nHost: localhost:{front.port}\r\nContent-Length: {200 * 2**20}\r\n\r\n"
    with (
        socket.create_connection(("127.0.0.1", front.port), PATIENCE) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as link,
    ):
        link.sendall(head.encode() + b"x" * 1000)
        return link.recv(4096).partition(b"\r\n")[0]


async def sockets(front: Front, browser: httpx.Client, session: aiohttp.ClientSession) -> list[Page]:
    made = browser.post("/chat/new/", headers={"X-CSRFToken": browser.cookies["csrftoken"], "Referer": front.url})
    conversation = str(made.url).rstrip("/").rsplit("/", 1)[-1]
    headers = {"Origin": front.url, "Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}
    address = f"{front.url}/ws/chat/{conversation}/"
    return [Page(await session.ws_connect(address, headers=headers)) for _ in range(PAGES)]


async def one_answer_on_every_page(pages: list[Page]) -> None:
    """A slow answer is seen as it grows, also by pages on the other process."""
    await choose(pages[0], "sim-long:latest")
    await pages[0].send("message.send", text="Tell me a long story")
    message = int((await pages[0].until("text.delta"))["message"])
    for page in pages[1:]:
        for _ in range(3):
            await page.until("text.delta", message=message)
    await pages[0].send("turn.stop")
    await asyncio.gather(*(page.until("turn.ended") for page in pages))


async def pieces_of_a_stream(front: Front, session: aiohttp.ClientSession, key: str) -> list[bytes]:
    """What arrives of a slow stream of the gateway, until five pieces were there."""
    body: dict[str, Any] = {"model": "Simulator/sim-long:latest", "stream": True}
    body["messages"] = [{"role": "user", "content": "Tell me a long story"}]
    got: list[bytes] = []
    address, headers = f"{front.url}/v1/chat/completions", {"Authorization": f"Bearer {key}"}
    async with session.post(address, json=body, headers=headers) as answer:
        assert answer.status == 200 and answer.content_type == "text/event-stream"
        async for piece in answer.content.iter_any():
            got.append(piece)
            if len(got) == 5:
                break
    return got


async def ended(page: Page) -> bool:
    """Whether the socket was closed by its process; a ping shows that it is open."""
    try:
        await page.send("ping")
        await page.until("pong")
    except ConnectionError:
        return True
    return False


# P6 O2
@pytest.mark.nightly
@pytest.mark.asyncio
@pytest.mark.parametrize("machines", [1, 2])
@pytest.mark.parametrize("program", [pytest.param(name, marks=needs(name)) for name in sorted(PROXIES)])
async def test_two_processes_behind(program: str, machines: int, tmp_path: Path) -> None:
    with behind(program, tmp_path, machines) as front, front.browser() as browser:
        sign_in(front, browser)
        for host in ("127.0.0.1", "[::1]"):
            wrong_password(front, host)
        events = front.sites[0].rows("SELECT address FROM toolsupport_securityevent WHERE kind = 'sign_in_wrong'")
        assert set(events) == {("127.0.0.1",), ("::/64",)}, "an address that the client wrote counts for nothing"
        if program == "nginx":  # Caddy counts while it passes a body on
            assert b" 413 " in too_large(front)
        key = re.findall(r"tsk-\S+", front.sites[0].manage("create_api_key", ADMIN[0]))[0]
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False)) as session:
            pages = await sockets(front, browser, session)
            await one_answer_on_every_page(pages)
            got = await pieces_of_a_stream(front, session, key)
            assert len(got) == 5 and b"[DONE]" not in b"".join(got)
            front.sites[0].kill(signal.SIGTERM)
            closed = [await ended(page) for page in pages]
            await asyncio.gather(*(page.ws.close() for page in pages))
            assert 0 < closed.count(True) < PAGES, "both processes had pages"
        assert [browser.get("/models/").status_code for _ in range(4)] == [200] * 4

"""The ways to sign in, with providers that answer, lie, are silent or are not there."""

from __future__ import annotations

import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.contrib.auth.models import User

from tests.serving import free_port
from tests.toolsupport.web.oidc_provider import Provider, provider
from toolsupport.models import Passkey
from toolsupport.registry.factors import requirement
from toolsupport.registry.settings import team_settings
from toolsupport.services import oidc_client, sign_in_doctor_checks
from toolsupport.services.doctor import Finding


def configure(settings: Any, issuer: str) -> None:
    ours = {"TOOLSUPPORT_OIDC_ISSUER": issuer, "TOOLSUPPORT_OIDC_CLIENT_ID": "site"}
    settings.ENV = settings.ENV | ours


def finding() -> Finding:
    [found] = sign_in_doctor_checks.provider()
    return found


@pytest_asyncio.fixture
async def idp(settings: Any) -> AsyncIterator[Provider]:
    async with provider() as found:
        configure(settings, found.issuer)
        yield found


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fault", "ok", "words"),
    [
        ("", True, "answers"),
        ("redirecting description", False, "status 302"),
        ("garbled description", False, "not a JSON object"),
        ("huge description", False, "too large"),
        ("other issuer", False, "names another issuer"),
        ("elsewhere token_endpoint", False, "token_endpoint is not at the origin of the issuer"),
        ("silent description", False, "It does not answer within"),
    ],
)
async def test_a_provider_that_answers(
    idp: Provider, monkeypatch: pytest.MonkeyPatch, fault: str, ok: bool, words: str
) -> None:
    if fault.startswith("silent"):
        monkeypatch.setattr(oidc_client, "TIMEOUT", 0.3)
    idp.fault = fault
    found = await sync_to_async(finding)()
    assert found.ok is ok and words in found.words and idp.issuer in found.words


@contextmanager
def answering(status: int = 200, date: str = "", context: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server of our own whose answers have this status and this time."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = DESCRIPTION.replace("ISSUER", issuer).encode()
            self.send_response_only(status)
            for name, value in (("Date", date), ("Content-Length", str(len(body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = f"http{'s' if context else ''}://localhost:{server.server_port}"
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


DESCRIPTION = """{"issuer": "ISSUER", "authorization_endpoint": "ISSUER/authorize", "token_endpoint": "ISSUER/token",
 "jwks_uri": "ISSUER/keys"}"""


@pytest.mark.parametrize(
    ("ahead", "ok", "words"),
    [(0, True, "answers"), (600, False, "600 s behind"), (-600, False, "600 s ahead of"), (30, True, "answers")],
)
def test_the_clocks_are_compared(settings: Any, ahead: int, ok: bool, words: str) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=ahead), usegmt=True)
    with answering(date=date) as issuer:
        configure(settings, issuer)
        found = finding()
    near = any(words.replace("600", str(seconds)) in found.words for seconds in range(590, 611))
    assert found.ok is ok and near, found.words


@pytest.mark.parametrize("date", ["", "soon", "Mon, 99 Foo 2026 25:61:61 GMT"])
def test_an_answer_without_a_time_says_nothing_about_clocks(settings: Any, date: str) -> None:
    with answering(date=date) as issuer:
        configure(settings, issuer)
        assert finding().ok


def certificate(folder: Path, name: str, days: int) -> ssl.SSLContext:
    """A certificate that nobody vouches for, until so many days from now."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    built = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    built = built.serial_number(1).not_valid_before(now - timedelta(days=9)).not_valid_after(now + timedelta(days=days))
    built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    made, form = built.sign(key, hashes.SHA256()), serialization.Encoding.PEM
    private = key.private_bytes(form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "pem").write_bytes(private + made.public_bytes(form))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "pem")
    return context


@pytest.mark.parametrize(
    ("name", "days", "trusted", "words"),
    [
        ("localhost", 9, False, "(TLS): self-signed certificate"),
        ("localhost", -1, True, "(TLS): certificate has expired"),
        ("elsewhere", 9, True, "(TLS): Hostname mismatch"),
    ],
)
def test_a_certificate_that_is_not_accepted(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, days: int, trusted: bool, words: str
) -> None:
    context = certificate(tmp_path, name, days)
    if trusted:
        monkeypatch.setattr(httpx, "AsyncClient", trusting(tmp_path / "pem"))
    with answering(context=context) as issuer:
        configure(settings, issuer)
        found = finding()
    assert found.ok is False and words in found.words, found.words


def trusting(file: Path) -> Callable[..., Any]:
    """The client with another list of those who vouch: the list of the machine cannot be changed by a test."""
    inner = httpx.AsyncClient
    return lambda **words: inner(**words | {"verify": ssl.create_default_context(cafile=str(file))})


@pytest.mark.parametrize(
    ("issuer", "words"),
    [
        ("https://nowhere.invalid", "(DNS)"),
        ("http://127.0.0.1:{closed}", "cannot be reached"),
        ("https://127.0.0.1:{plain}", "TLS"),
    ],
)
def test_a_provider_that_is_not_there(settings: Any, issuer: str, words: str) -> None:
    with answering() as plain:
        port = plain.rpartition(":")[2]
        configure(settings, issuer.format(closed=free_port(), plain=port))
        found = finding()
    assert found.ok is False and words in found.words, found.words


@pytest.mark.parametrize("status", [404, 500])
def test_a_provider_without_a_description(settings: Any, status: int) -> None:
    with answering(status) as issuer:
        configure(settings, issuer)
        found = finding()
    assert found.ok is False and f"status {status}" in found.words


@pytest.mark.parametrize(
    ("name", "proxies", "ok", "words"),
    [
        ("X-Remote-User", (), False, "names no proxy"),
        ("X-Remote-User", ("0.0.0.0/0",), False, "Any client can sign in as any person"),
        ("X-Remote-User", ("10.0.0.0/8",), None, "Every program at 10.0.0.0/8"),
        ("X-Remote-User", ("127.0.0.1/32",), True, "from 127.0.0.1/32"),
        ("X_Forwarded_For", ("127.0.0.1/32",), False, "another meaning"),
        ("Cookie", ("127.0.0.1/32",), False, "another meaning"),
    ],
)
def test_the_trusted_header(settings: Any, name: str, proxies: tuple[str, ...], ok: bool | None, words: str) -> None:
    networks = tuple(map(ip_network, proxies))
    settings.ENV = settings.ENV | {"TOOLSUPPORT_TRUSTED_HEADER": name, "TOOLSUPPORT_TRUSTED_PROXIES": networks}
    [found] = sign_in_doctor_checks.header()
    assert found.ok is ok and words in found.words


def test_a_site_with_passwords_alone_has_nothing_to_ask(settings: Any) -> None:
    assert [found.words for found in sign_in_doctor_checks.findings()] == ["password"]
    settings.ENV = settings.ENV | {"TOOLSUPPORT_PASSWORD_SIGN_IN": False}
    assert sign_in_doctor_checks.ways().ok is False


@pytest.mark.django_db
@pytest.mark.parametrize(("rule", "words"), [("off", "not required;"), ("admins", "required of administrators;")])
def test_of_whom_a_second_factor_is_required(alice: User, bob: User, rule: str, words: str) -> None:
    bob.set_unusable_password()
    bob.save()
    team_settings.put(requirement.KEY, rule)
    found = sign_in_doctor_checks.required_factor()
    assert words in found.words and "without one: 1" in found.words
    assert (found.ok, "No person has one yet" in found.words) == ((True, False) if rule == "off" else (None, True))
    Passkey.objects.create(person=alice, name="Phone", site="localhost", credential="c", handle="h")
    assert sign_in_doctor_checks.required_factor().ok is True

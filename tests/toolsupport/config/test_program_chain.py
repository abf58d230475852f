"""Requests with a key get the same answers from the short chain of middleware as from the whole one."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings as site

from tests.factories import UserFactory
from tests.tables import every
from toolsupport.config import metrics
from toolsupport.config.asgi import HttpApplication, ProgramASGIHandler, ThreadedASGIHandler
from toolsupport.gateway import model_list
from toolsupport.registry.people import api_keys
from toolsupport.web import gateway_middleware

HOST = (b"host", b"127.0.0.1")
Answer = tuple[int, dict[bytes, bytes], bytes]


def scope(path: str, method: str, headers: list[tuple[bytes, bytes]], scheme: str = "http") -> dict[str, Any]:
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": scheme,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 80),
    }


async def asked(application: Any, given: dict[str, Any], body: bytes = b"") -> Answer:
    """The status, the headers and the body that an application sends."""
    sent: list[dict[str, Any]] = []
    ended = asyncio.Event()
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not waiting:
            await ended.wait()
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            ended.set()

    await application(given, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])


# What each of them makes anew, and what only compression and sessions add.
CHECKS = {"toolsupport.web.gateway_middleware.DjangoChecks", "toolsupport.web.unstorable_texts.NoNulInAddress"}
FRAMES = b"X-Frame-Options"
OWN = (b"X-Request-ID", b"Request-Id", b"Vary")


def comparable(answer: Answer) -> Answer:
    status, headers, body = answer
    return status, {name: value for name, value in headers.items() if name not in OWN}, body


def alike(whole: Answer, short: Answer) -> bool:
    """Whether two answers are the same; the short chain adds the header against frames to refusals, too."""
    first, second = comparable(whole), comparable(short)
    more = {FRAMES: second[1][FRAMES]} if FRAMES in second[1] else {}
    return (first[0], first[1] | more, first[2]) == second


def key_of() -> str:
    return api_keys.create(UserFactory(role="user").pk, "laptop")


def crashing(error: Exception) -> Callable[[], None]:
    def models() -> None:
        raise error

    return models


# What is sent → the status of both. `{}` stands for the key.
CASES: dict[str, tuple[str, str, list[tuple[bytes, bytes]], bytes, int]] = {
    "a list": ("GET", "/v1/models", [HOST], b"", 200),
    "the head of a list": ("HEAD", "/v1/models", [HOST], b"", 200),
    "an unknown model": ("GET", "/v1/models/a/b/c", [HOST], b"", 404),
    "a model with a NUL": ("GET", "/v1/models/a\0b", [HOST], b"", 400),
    "an unknown address": ("GET", "/v1/nothing", [HOST], b"", 404),
    "an unknown address of Anthropic's": ("POST", "/v1/messages/x", [HOST], b"{}", 404),
    "another method": ("PUT", "/v1/models", [HOST], b"{}", 405),
    "no JSON": ("POST", "/v1/chat/completions", [HOST], b"{", 400),
    "no JSON for Anthropic's": ("POST", "/v1/messages", [HOST], b"{", 400),
    "a foreign host": ("GET", "/v1/models", [(b"host", b"evil.example")], b"", 400),
    "a broken host": ("GET", "/v1/models", [(b"host", b"a b")], b"", 400),
    "a foreign host of a proxy": ("GET", "/v1/models", [HOST, (b"x-forwarded-host", b"evil.example")], b"", 200),
    "a page": ("GET", "/v1/models", [HOST, (b"accept", b"text/html")], b"", 200),
    "a body too large": ("POST", "/v1/responses", [HOST], b" " * (8 * 1024 * 1024 + 1), 413),
    "an origin": ("POST", "/v1/responses", [HOST, (b"origin", b"https://evil.example")], b"{}", 400),
}


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_both_chains_answer_alike() -> None:
    whole, short, key = ThreadedASGIHandler(), ProgramASGIHandler(), (await in_database(key_of)()).encode()
    keys = ((b"authorization", b"Bearer " + key), (b"x-api-key", key), (b"authorization", b"bearer wrong"))
    for name, (method, path, headers, body, status) in CASES.items():
        for given in keys[: 1 if len(body) > 1000 else 3]:
            request = scope(path, method, [*headers, given])
            assert gateway_middleware.has_key(request)
            first, second = [await asked(one, request, body) for one in (whole, short)]
            assert alike(first, second), (name, given, first, second)
            # The host is checked before the key, which is checked before the rest.
            wrong = given[1] == b"bearer wrong" and b"127.0.0.1" in headers[0][1]
            assert first[0] == (401 if wrong else status), (name, given, first)


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_a_blank_token_beside_a_key_is_no_token() -> None:
    """Programs of Anthropic's package send both headers, one of them blank where its variable is set to nothing."""
    key = (await in_database(key_of)()).encode()
    for blank in (b"Bearer", b"Bearer ", b"bearer  ", b""):
        given = scope("/v1/models", "GET", [HOST, (b"authorization", blank), (b"x-api-key", key)])
        first, second = [await asked(one, given) for one in (ThreadedASGIHandler(), ProgramASGIHandler())]
        assert first[0] == second[0] == 200, (blank, first, second)
        assert alike(first, second), blank
    twice = scope("/v1/models", "GET", [HOST, (b"authorization", b"Basic a"), (b"authorization", b"Bearer " + key)])
    assert [(await asked(one, twice))[0] for one in (ThreadedASGIHandler(), ProgramASGIHandler())] == [401, 401]


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_they_keep_the_same_headers_limits_and_states(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    key = (b"authorization", b"Bearer " + (await in_database(key_of)()).encode())
    request = scope("/v1/models", "GET", [HOST, key])

    async def both(given: dict[str, Any] = request) -> Answer:
        first, second = [await asked(made(), given) for made in (ThreadedASGIHandler, ProgramASGIHandler)]
        assert alike(first, second), (first, second)
        return second

    _, headers, _ = await both()
    for name in (b"Content-Security-Policy", b"Cache-Control", b"X-Frame-Options", b"X-Content-Type-Options"):
        assert headers[name]
    assert headers[b"Content-Length"] and headers[b"Referrer-Policy"]
    settings.SECURE_HSTS_SECONDS = 60
    assert b"Strict-Transport-Security" in (await both(scope("/v1/models", "GET", [HOST, key], "https")))[1]
    settings.SECURE_SSL_REDIRECT = True
    assert (await both())[0] == 301
    settings.SECURE_SSL_REDIRECT = False
    monkeypatch.setattr(model_list, "models", crashing(OSError(errno.ENOSPC, "full")))
    status, headers, body = await both()
    assert (status, json.loads(body)["error"]["code"]) == (503, "storage") and headers[b"Retry-After"]
    monkeypatch.setattr(model_list, "models", crashing(RuntimeError("a fault")))
    assert (await both())[0] == 500
    settings.ENV = settings.ENV | {"TOOLSUPPORT_KEY_REQUESTS": 1}
    status, _, body = await both()
    assert (status, json.loads(body)["error"]["code"]) == (429, "rate_limit")


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_a_request_is_numbered_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    key = (b"authorization", b"Bearer " + (await in_database(key_of)()).encode())
    before = metrics.REGISTRY.get_sample_value("toolsupport_requests_total", {"method": "GET", "status": "200"}) or 0
    given = scope("/v1/models", "GET", [HOST, key, (b"x-request-id", b"number-12345")])
    status, headers, _ = await asked(HttpApplication(), given)
    assert (status, headers[b"X-Request-ID"]) == (200, b"number-12345")
    assert b"Request-Id" not in headers
    # Packages of Anthropic read the number from a header of this name.
    for path, wanted in (("/v1/messages", 400), ("/v1/messages/count_tokens", 400), ("/v1/messages/x", 404)):
        request = scope(path, "POST", [HOST, key, (b"x-request-id", b"number-12345")])
        status, headers, _ = await asked(HttpApplication(), request, b"{}")
        assert (status, headers[b"Request-Id"], headers[b"X-Request-ID"]) == (wanted, *[b"number-12345"] * 2), path
    after = metrics.REGISTRY.get_sample_value("toolsupport_requests_total", {"method": "GET", "status": "200"})
    assert after == before + 1
    assert "GET /v1/models 200" in caplog.text and key[1].decode() not in caplog.text


@every(
    ("path", "headers", "short"),
    [
        ("/v1/models", [(b"authorization", b"Bearer a")], True),
        ("/v1/models", [(b"x-api-key", b"a")], True),
        ("/v1/models", [], False),
        ("/v1/models", [(b"authorization", b"Bearer ")], False),
        ("/v1/models", [(b"authorization", b"Basic a")], False),
        ("/v1/models", [(b"x-api-key", b" ")], False),
        ("/v10/models", [(b"x-api-key", b"a")], False),
        ("/api/models", [(b"x-api-key", b"a")], False),
        ("/", [(b"x-api-key", b"a")], False),
    ],
)
def test_only_a_request_of_a_program_takes_the_short_chain(
    path: str, headers: list[tuple[bytes, bytes]], short: bool
) -> None:
    assert gateway_middleware.has_key(scope(path, "GET", headers)) is short


def test_every_middleware_of_the_site_is_kept_or_left_out_for_a_reason() -> None:
    joined = [f"{made.__module__}.{made.__name__}" for made in gateway_middleware.JOINED]
    kept = [*gateway_middleware.MIDDLEWARE, *joined]
    # Tests run without the middleware for static files.
    assert set(site.MIDDLEWARE) | set(gateway_middleware.LEFT_OUT) == {*kept, *gateway_middleware.LEFT_OUT} - CHECKS

"""What a sign-in provider answers, in every way that cannot be used: its address is one that respx answers."""

from __future__ import annotations

import gzip
import json
import time
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
import respx

from tests.toolsupport.web.oidc_provider import Provider, public
from toolsupport.core.errors import NotAllowed
from toolsupport.services import oidc_client

pytestmark = pytest.mark.asyncio

ISSUER = "https://login.example"
BACK = "https://site.example/login/oidc/callback/"
ATTEMPT = oidc_client.begun()
PATHS = {"description": "/.well-known/openid-configuration", "token": "/token", "keys": "/keys"}
TOO_MUCH = b'{"a": "' + b"x" * 1_000_000 + b'"}'
Answer = httpx.Response | Exception


@pytest.fixture
def idp(settings: Any) -> Provider:
    ours = {"ISSUER": ISSUER, "CLIENT_ID": "site", "CLIENT_SECRET": "the secret of the site"}
    settings.ENV = settings.ENV | {f"TOOLSUPPORT_OIDC_{name}": value for name, value in ours.items()}
    return Provider(ISSUER)


def honest(idp: Provider) -> dict[str, Answer]:
    given = {"description": idp.facts(), "token": idp.tokens(ATTEMPT.nonce), "keys": idp.published()}
    return {name: httpx.Response(200, content=json.dumps(value)) for name, value in given.items()}


async def claims_of(idp: Provider, replaced: dict[str, Answer] | None = None) -> tuple[str, list[httpx.Request]]:
    """Whom a sign-in is about, or why it was refused, and what was asked. Any other address would fail the test."""
    with respx.mock(base_url=ISSUER, assert_all_called=False) as asked:
        for name, answer in {**honest(idp), **(replaced or {})}.items():
            route = asked.request("POST" if name == "token" else "GET", PATHS[name])
            if isinstance(answer, Exception):
                route.mock(side_effect=answer)
            else:
                route.mock(return_value=answer)
        try:
            found = await oidc_client.claims(ATTEMPT, {"state": ATTEMPT.state, "code": "code1"}, BACK)
        except NotAllowed as refused:
            found = {"sub": str(refused)}
        return str(found["sub"]), [call.request for call in asked.calls]


async def test_an_honest_provider_is_asked_three_times(idp: Provider) -> None:  # P4
    who, asked = await claims_of(idp)
    assert who == "42" and [request.url.path for request in asked] == list(PATHS.values())
    form = {name: values[0] for name, values in parse_qs(asked[1].content.decode()).items()}
    sent = {"code": "code1", "redirect_uri": BACK, "code_verifier": ATTEMPT.verifier}
    assert form == {"grant_type": "authorization_code", **sent}
    assert asked[1].headers["Authorization"].startswith("Basic ") and "Authorization" not in asked[2].headers


LIES: dict[str, dict[str, Any]] = {
    "nonce": {"nonce": "other"},
    "no nonce": {"nonce": None},
    "audience": {"aud": "other"},
    "several audiences": {"aud": ["site", "other"], "azp": "other"},
    "several audiences, for none of them": {"aud": ["site", "other"]},
    "an audience that is no text": {"aud": {"site": 1}},
    "an issuer in a list": {"iss": [ISSUER]},
    "from the future": {"iat": 10**12},
    "not yet": {"nbf": 10**12},
    "an endless time": {"exp": float("inf")},
    "a time in words": {"exp": "soon"},
    "issuer": {"iss": "http://127.0.0.1:1"},
    "expired": {"exp": 1_000_000_000},
    "no end": {"exp": None},
    "no subject": {"sub": None},
    "empty subject": {"sub": ""},
    "a number as subject": {"sub": 42},
    "a list as nonce": {"nonce": ["other"]},
    "a nonce with half a character": {"nonce": "\ud800"},
    "an empty nonce": {"nonce": ""},
    "an audience in capitals": {"aud": "SITE"},
    "the issuer with a slash": {"iss": f"{ISSUER}/"},
    "from an endless time on": {"nbf": float("inf")},
}


@pytest.mark.parametrize("lie", sorted(LIES))
async def test_a_token_that_lies_vouches_for_nobody(idp: Provider, lie: str) -> None:  # P4
    idp.lies = LIES[lie]
    assert (await claims_of(idp))[0].startswith("The sign-in provider's answer cannot be used: its ID token ")


FAULTS = [
    *("alg none", "another key", "public key as a secret", "other issuer"),
    *(f"elsewhere {name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")),
]


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_hostile_provider_vouches_for_nobody(idp: Provider, fault: str) -> None:  # P4
    idp.fault = fault
    assert "answer cannot be used" in (await claims_of(idp))[0]


# Error bodies of hosted providers, and what proxies in front of them send.
BODIES: dict[str, tuple[Answer, str]] = {
    "redirecting": (httpx.Response(302, headers={"Location": f"{ISSUER}/elsewhere"}), "status 302"),
    "moved": (httpx.Response(308, headers={"Location": "https://evil.example/"}), "status 308"),
    "huge": (httpx.Response(200, content=TOO_MUCH), "it is too large"),
    "huge when it is unpacked": (
        httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(gzip.compress(TOO_MUCH))),
        "it is too large",
    ),
    "a list": (httpx.Response(200, content=b"[1]"), "it is not a JSON object"),
    "empty": (httpx.Response(200), "it is not JSON"),
    "a page": (httpx.Response(200, html="<html><script>alert(1)</script></html>"), "it is not JSON"),
    "double keys": (httpx.Response(200, content=b'{"a": 1, "a": 2}'), "it is not JSON"),
    "not a number": (httpx.Response(200, content=b'{"a": NaN}'), "it is not JSON"),
    "deep": (httpx.Response(200, content=b'{"a":' + b"[" * 50_000), "it is not JSON"),
    "created": (httpx.Response(201, json={}), "status 201"),
    "a used code": (httpx.Response(400, json={"error": "invalid_grant"}), "status 400"),
    "a wrong secret": (httpx.Response(401, json={"error": "invalid_client"}), "status 401"),
    "a page that forbids": (httpx.Response(403, html="<html>Forbidden</html>"), "status 403"),
    "not found": (httpx.Response(404, json={"errorCode": "E0000007"}), "status 404"),
    "too many": (httpx.Response(429, headers={"Retry-After": "30"}), "status 429"),
    "broken": (httpx.Response(500, html="<html>Whitelabel Error Page</html>"), "status 500"),
    "a proxy without a server": (httpx.Response(502, html="<html>Bad Gateway</html>"), "status 502"),
    "in maintenance": (httpx.Response(503, json={"error": "temporarily_unavailable"}), "status 503"),
    "nothing there": (httpx.ConnectError("refused"), "does not answer"),
    "cut": (httpx.RemoteProtocolError("closed"), "does not answer"),
    "slow": (httpx.ReadTimeout("slow"), "does not answer"),
    "not compressed": (
        httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"not packed")),
        "does not answer",
    ),
}


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("body", sorted(BODIES))
async def test_an_answer_that_is_an_error_is_named_and_asked_for_once(idp: Provider, name: str, body: str) -> None:
    answer, words = BODIES[body]
    found, asked = await claims_of(idp, {name: answer})
    assert words in found and "<" not in found
    assert [request.url.path for request in asked] == list(PATHS.values())[: list(PATHS).index(name) + 1]


RSA = {"kty": "RSA", "kid": "key1"}
KEY_SETS: list[Any] = [
    *(None, 5, "key1", [None, []], [RSA], [RSA | {"n": 5, "e": []}], [RSA | {"n": "AQ", "e": "AQ", "alg": "HS256"}]),
    [{"kty": "EC", "kid": "key1", "crv": ["P-256"], "x": "AA", "y": "AA"}],
    [{"kty": "OKP", "kid": "key1", "crv": {}, "x": "\ud800"}],
    *([public(1) | {"alg": alg}] for alg in ("none", "HS256", "RSA-OAEP", 5, ["RS256"])),
    *([public(1) | {"kid": "another"}], [public(1) | {"use": "enc"}], [public(1), public(1)], [public(2)]),
]
TOKENS = ["", "a.b", "....", 5, ["x"], "é.é.é", "e30.e30.e30", "eyJhbGciOiJub25lIn0.e30.", "\ud800"]


@pytest.mark.parametrize(
    ("part", "value"), [*(("key_set", one) for one in KEY_SETS), *(("id_token", one) for one in TOKENS)]
)
async def test_odd_keys_and_tokens_vouch_for_nobody(idp: Provider, part: str, value: Any) -> None:  # P4
    setattr(idp, part, value)
    assert "answer cannot be used" in (await claims_of(idp))[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("authorization_endpoint", "ISSUER/authorize\r\nX-Odd: 1"),
        ("authorization_endpoint", "ISSUER\\@evil.example/"),
        ("authorization_endpoint", ["ISSUER/authorize"]),
        ("token_endpoint", "ISSUER/to\0ken"),
        ("token_endpoint", "ISSUER/" + "x" * 70_000),
        ("jwks_uri", "ISSUER/\u00e9"),
    ],
)
async def test_odd_addresses_are_not_asked(idp: Provider, name: str, value: Any) -> None:  # P4
    idp.described = {name: value}
    found, asked = await claims_of(idp)
    assert f"its {name} is not at the origin of the issuer" in found and len(asked) == 1


@pytest.mark.parametrize("methods", [5, {"client_secret_post": 1}, [None], []])
async def test_odd_methods_of_a_token_endpoint_count_for_nothing(idp: Provider, methods: Any) -> None:
    idp.described = {"token_endpoint_auth_methods_supported": methods}
    who, asked = await claims_of(idp)
    assert who == "42" and "Authorization" in asked[1].headers and b"client_secret" not in asked[1].content


async def test_a_secret_goes_into_the_form_where_the_provider_reads_it_there(idp: Provider) -> None:
    idp.described = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    who, asked = await claims_of(idp)
    assert who == "42" and "Authorization" not in asked[1].headers
    assert b"client_secret=the+secret+of+the+site" in asked[1].content


@pytest.mark.parametrize(
    ("claim", "seconds", "accepted"),
    [("exp", -30, 1), ("exp", -120, 0), ("iat", 30, 1), ("iat", 120, 0), ("nbf", 30, 1), ("nbf", 120, 0)],
)
async def test_clocks_may_differ_by_a_minute(idp: Provider, claim: str, seconds: int, accepted: int) -> None:  # P4
    idp.lies = {claim: int(time.time()) + seconds}
    assert ((await claims_of(idp))[0] == "42") == bool(accepted)

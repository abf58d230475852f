"""Asks an OpenID Connect provider for its description, the tokens for a code, and their owner.

It asks the issuer's origin only, follows no redirect, reads no proxy from the environment, and ends after TIMEOUT or
LARGEST bytes. The signature of an ID token is always verified, with algorithms of public keys only.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import httpx
import jwt
from django.conf import settings

from toolsupport.core import oidc_rules, strict_json
from toolsupport.core.errors import ConfigError, NotAllowed
from toolsupport.core.types import JSON
from toolsupport.providers.http_client import trusted_certificates

TIMEOUT = 10.0  # seconds for all requests of one sign-in
LARGEST = 256 * 1024
LEEWAY = 60  # seconds that two clocks may differ
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
NOT_BEGUN = "This sign-in was not started in this browser. Start again."
REFUSED = "The sign-in provider's answer cannot be used: {}."


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """The state that a browser keeps between the two halves of a sign-in."""

    state: str
    nonce: str
    verifier: str


def configured() -> bool:
    return bool(settings.ENV["TOOLSUPPORT_OIDC_ISSUER"])


def begun() -> SignInAttempt:
    return SignInAttempt(*(secrets.token_urlsafe(32) for _ in range(3)))


async def authorize_url(attempt: SignInAttempt, callback: str) -> str:
    """Return the provider's address at which the person signs in. Raises ConfigError, NotAllowed."""
    async with _asking() as client:
        description = await _description(client)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest()).rstrip(b"=").decode()
    query = {
        "response_type": "code",
        "client_id": settings.ENV["TOOLSUPPORT_OIDC_CLIENT_ID"],
        "redirect_uri": callback,
        "scope": settings.ENV["TOOLSUPPORT_OIDC_SCOPES"],
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    address = str(description["authorization_endpoint"])
    return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"


async def described() -> str:
    """Read the provider's description; return the time of its answer. Raises ConfigError, NotAllowed."""
    dates: list[str] = []

    async def note(answer: httpx.Response) -> None:
        dates.append(answer.headers.get("Date", ""))

    async with _asking() as client:
        client.event_hooks = {"response": [note]}
        await _description(client)
    return dates[-1]


async def claims(attempt: SignInAttempt, given: Mapping[str, str], callback: str) -> JSON:
    """Return the verified claims about the person. Raises ConfigError, NotAllowed."""
    # Without a cookie the attempt is empty, and so would be the state of an address that another person made.
    if not attempt.state or not hmac.compare_digest(given.get("state", "").encode(), attempt.state.encode()):
        raise NotAllowed(NOT_BEGUN)
    if not given.get("code"):
        raise NotAllowed("The sign-in provider did not sign you in.")
    issuer = settings.ENV["TOOLSUPPORT_OIDC_ISSUER"]
    if given.get("iss", issuer) != issuer:  # RFC 9207
        raise NotAllowed(REFUSED.format("it names another issuer"))
    async with _asking() as client:
        description = await _description(client)
        form = {"code": given["code"], "redirect_uri": callback, "code_verifier": attempt.verifier}
        token = await _token(client, description, form)
        keys = await _read(client, client.build_request("GET", description["jwks_uri"]))
    return await asyncio.to_thread(_verified, token, keys, attempt.nonce)


@asynccontextmanager
async def _asking() -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the provider, with one time limit for all of its requests."""
    try:
        async with asyncio.timeout(TIMEOUT):
            async with httpx.AsyncClient(
                verify=trusted_certificates(), trust_env=False, follow_redirects=False, timeout=TIMEOUT
            ) as client:
                yield client
    except (TimeoutError, httpx.HTTPError) as error:
        raise NotAllowed("The sign-in provider does not answer. Try again later.") from error


async def _description(client: httpx.AsyncClient) -> JSON:
    issuer = settings.ENV["TOOLSUPPORT_OIDC_ISSUER"]
    if not oidc_rules.origin(issuer):
        raise ConfigError("TOOLSUPPORT_OIDC_ISSUER must be an https address, or http on this machine.")
    url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    found = await _read(client, client.build_request("GET", url))
    if found.get("issuer") != issuer:
        raise NotAllowed(REFUSED.format("it names another issuer"))
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        if not oidc_rules.same_origin(found.get(name), issuer):
            raise NotAllowed(REFUSED.format(f"its {name} is not at the origin of the issuer"))
    return found


async def _token(client: httpx.AsyncClient, description: JSON, proof: Mapping[str, str]) -> str:
    name, secret = settings.ENV["TOOLSUPPORT_OIDC_CLIENT_ID"], settings.ENV["TOOLSUPPORT_OIDC_CLIENT_SECRET"]
    form, head = {"grant_type": "authorization_code", **proof}, {}
    methods = description.get("token_endpoint_auth_methods_supported")
    if secret and not (isinstance(methods, list) and "client_secret_post" in methods):
        pair = base64.b64encode(f"{_quoted(name)}:{_quoted(secret)}".encode()).decode()
        head = {"Authorization": f"Basic {pair}"}
    else:
        form |= {"client_id": name} | ({"client_secret": secret} if secret else {})
    request = client.build_request("POST", description["token_endpoint"], data=form, headers=head)
    token = (await _read(client, request)).get("id_token")
    if not isinstance(token, str):
        raise NotAllowed(REFUSED.format("it has no ID token"))
    return token


def _quoted(text: str) -> str:
    return urlencode({"": text})[1:]


async def _read(client: httpx.AsyncClient, request: httpx.Request) -> JSON:
    """Return the JSON object of an answer with status 200."""
    answer = await client.send(request, stream=True)
    try:
        if answer.status_code != httpx.codes.OK:
            raise NotAllowed(REFUSED.format(f"status {answer.status_code}"))
        body = b""
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > LARGEST:
                raise NotAllowed(REFUSED.format("it is too large"))
    finally:
        await answer.aclose()
    try:
        found = strict_json.read(body)
    except ValueError as error:
        raise NotAllowed(REFUSED.format("it is not JSON")) from error
    if not isinstance(found, dict):
        raise NotAllowed(REFUSED.format("it is not a JSON object"))
    return found


def _verified(token: str, keys: JSON, nonce: str) -> JSON:
    """Return the claims of an ID token that this issuer signed for us, now, for this attempt."""
    audience = settings.ENV["TOOLSUPPORT_OIDC_CLIENT_ID"]
    try:
        found: JSON = jwt.decode(
            token,
            _key(token, keys),
            algorithms=ALGORITHMS,
            audience=audience,
            issuer=settings.ENV["TOOLSUPPORT_OIDC_ISSUER"],
            leeway=LEEWAY,
            options={"require": ["exp", "iat", "iss", "aud", "sub"]},
        )
    except (jwt.PyJWTError, ValueError, TypeError, KeyError) as error:
        raise NotAllowed(REFUSED.format("its ID token is not valid")) from error
    sole = found["aud"] in (audience, [audience])  # for several audiences the token must name the one that asked
    sure = isinstance(found["sub"], str) and found["sub"] and found.get("azp", audience if sole else "") == audience
    given = str(found.get("nonce", "")).encode(errors="replace")
    if not sure or not hmac.compare_digest(given, nonce.encode()):
        raise NotAllowed(REFUSED.format("its ID token belongs to another sign-in"))
    return found


def _key(token: str, keys: JSON) -> jwt.PyJWK:
    """Return the provider's public key that the token names. A secret key in the set counts for nothing."""
    wanted = jwt.get_unverified_header(token).get("kid")
    usable = [one for one in keys.get("keys", []) if isinstance(one, dict) and one.get("kty") in ("RSA", "EC", "OKP")]
    usable = [one for one in usable if one.get("use", "sig") == "sig" and one.get("alg") in (None, *ALGORITHMS)]
    found = [one for one in usable if wanted in (None, one.get("kid"))]
    if len(found) != 1:
        raise jwt.InvalidKeyError("no key, or several")
    return jwt.PyJWK(found[0])

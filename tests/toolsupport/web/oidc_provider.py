"""An OpenID Connect provider on this machine, which can also behave as no honest one does."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

ABSENT = object()


@cache
def key(number: int) -> RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def public(number: int) -> dict[str, Any]:
    found = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key(number).public_key()))
    return {**found, "kid": f"key{number}", "use": "sig", "alg": "RS256"}


@dataclass
class Provider:
    """`claims` of the account, `lies` that replace claims, `fault` is one of the ways to misbehave.

    `described` replaces parts of the description (`ISSUER` stands for its address), `key_set` and `id_token` the whole.
    """

    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "42", "preferred_username": "dora"})
    lies: dict[str, Any] = field(default_factory=dict)
    fault: str = ""
    described: dict[str, Any] = field(default_factory=dict)
    key_set: Any = ABSENT
    id_token: Any = ABSENT
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def signs_in(self, address: str) -> dict[str, str]:
        """What the person's browser brings back from the address to which it was sent."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
        self.codes["code1"] = query
        return {"code": "code1", "state": query["state"]}

    def facts(self) -> dict[str, Any]:
        """The description of this provider."""
        found: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }
        for name, value in self.described.items():
            found[name] = value.replace("ISSUER", self.issuer) if isinstance(value, str) else value
        if self.fault.startswith("elsewhere "):
            found[self.fault.partition(" ")[2]] = "http://127.0.0.1:1/x"
        if self.fault == "other issuer":
            found["issuer"] = "http://127.0.0.1:1"
        return found

    async def description(self, request: web.Request) -> web.StreamResponse:
        return await self._faulty(request, "description") or web.json_response(self.facts())

    async def token(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        begun = self.codes.pop(str(form["code"]), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(str(form["code_verifier"]).encode()).digest()).rstrip(b"=")
        pair = base64.b64encode(b"site:the+secret+of+the+site").decode()
        known = request.headers.get("Authorization") == f"Basic {pair}"
        if begun is None or not known or begun.get("code_challenge") not in (None, challenge.decode()):
            return web.json_response({"error": "invalid_grant"}, status=400)
        found = await self._faulty(request, "token")
        return found or web.json_response(self.tokens(begun.get("nonce")))

    def tokens(self, nonce: str | None) -> dict[str, Any]:
        """What a code is exchanged for."""
        return {"access_token": "x", "id_token": self._signed(nonce) if self.id_token is ABSENT else self.id_token}

    def _signed(self, nonce: str | None) -> str:
        now = int(time.time())
        facts = {"iss": self.issuer, "aud": "site", "iat": now, "exp": now + 60, "nonce": nonce} | self.claims
        facts = {name: value for name, value in (facts | self.lies).items() if value is not None}
        claims = json.dumps(facts).encode()  # `jwt.encode` refuses some lies itself
        if self.fault == "alg none":
            return jwt.PyJWS().encode(claims, "", algorithm="none")
        if self.fault == "public key as a secret":
            return jwt.PyJWS().encode(claims, public(1)["n"] * 2, algorithm="HS256", headers={"kid": "key1"})
        signer = key(2) if self.fault == "another key" else key(1)
        return jwt.PyJWS().encode(claims, signer, algorithm="RS256", headers={"kid": "key1"})

    def published(self) -> dict[str, Any]:
        """The public keys, and a secret one that nobody may use."""
        secret = base64.urlsafe_b64encode(public(1)["n"].encode() * 2).decode()
        found = [public(1), {"kty": "oct", "kid": "key1", "k": secret}]
        return {"keys": found if self.key_set is ABSENT else self.key_set}

    async def keys(self, request: web.Request) -> web.StreamResponse:
        return await self._faulty(request, "keys") or web.json_response(self.published())

    async def _faulty(self, request: web.Request, name: str) -> web.StreamResponse | None:
        self.asked.append(request.path)
        fault = self.fault.removesuffix(f" {name}") if self.fault.endswith(f" {name}") else ""
        if fault == "redirecting":
            return web.Response(status=302, headers={"Location": f"{self.issuer}/elsewhere"})
        if fault == "silent":
            await self.released.wait()
        if fault == "huge":
            return web.Response(body=b'{"a": "' + b"x" * 1_000_000 + b'"}')
        return web.Response(body=b"[1]") if fault == "garbled" else None

    async def elsewhere(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        return web.json_response({})


@asynccontextmanager
async def provider() -> AsyncIterator[Provider]:
    found = Provider()
    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", found.description)
    app.router.add_get("/keys", found.keys)
    app.router.add_get("/elsewhere", found.elsewhere)
    app.router.add_post("/token", found.token)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    found.issuer = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield found
    finally:
        found.released.set()
        await runner.cleanup()

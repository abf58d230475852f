"""A device with passkeys for tests, written from the WebAuthn recommendation; each part of an answer can be forged."""

from __future__ import annotations

import hashlib
import json
import secrets
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

ORIGIN = "http://localhost:8000"
PRESENT, VERIFIED, NEW = 0x01, 0x04, 0x40


def coded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class SoftPasskey:
    """One key on a device; change an attribute to lie."""

    origin: str = ORIGIN
    site: str = "localhost"
    flags: int = PRESENT | VERIFIED
    counter: int = 0
    handle: str | None = None
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def made(self, options: dict[str, Any]) -> str:
        """The answer to `navigator.credentials.create`."""
        self.handle = options["user"]["id"]
        numbers = self.key.public_key().public_numbers()
        point = {-2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, **point})
        credential = bytes(16) + struct.pack(">H", len(self.id)) + self.id + public
        attestation = {"fmt": "none", "attStmt": {}, "authData": self._data(NEW) + credential}
        client = self._client("webauthn.create", options)
        return self._written({"clientDataJSON": coded(client), "attestationObject": coded(cbor2.dumps(attestation))})

    def proof(self, options: dict[str, Any]) -> str:
        """The answer to `navigator.credentials.get`."""
        self.counter += 1
        client, data = self._client("webauthn.get", options), self._data()
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        parts = {"clientDataJSON": client, "authenticatorData": data, "signature": signature}
        return self._written({name: coded(part) for name, part in parts.items()} | {"userHandle": self.handle})

    def _data(self, more: int = 0) -> bytes:
        return hashlib.sha256(self.site.encode()).digest() + struct.pack(">BI", self.flags | more, self.counter)

    def _client(self, kind: str, options: dict[str, Any]) -> bytes:
        return json.dumps({"type": kind, "challenge": options["challenge"], "origin": self.origin}).encode()

    def _written(self, response: dict[str, Any]) -> str:
        named = {"id": coded(self.id), "rawId": coded(self.id), "type": "public-key"}
        return json.dumps({**named, "response": response, "clientExtensionResults": {}})

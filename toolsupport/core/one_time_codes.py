"""Codes of an authenticator app (RFC 6238: SHA-1, six digits, steps of 30 seconds) and recovery codes."""

from __future__ import annotations

import base64
import hashlib
import hmac
from urllib.parse import quote, urlencode

PERIOD, DIGITS = 30, 6  # the only ones that every app supports
DRIFT = 1  # steps that two clocks may differ
SECRET_BYTES = 20
RECOVERY_BYTES, RECOVERY_CODES, GROUP = 15, 10, 6  # 24 letters and digits in groups


def code(secret: bytes, step: int, digits: int = DIGITS) -> str:
    """Return the code of a step, which is the time divided by PERIOD."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), hashlib.sha1)
    start = digest[-1] & 0x0F
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def matching_step(secret: bytes, given: str, now: float, after: int = -1) -> int | None:
    """Return the step of the given code, None if it is wrong; steps up to `after` were used."""
    present = int(now) // PERIOD
    steps = (step for step in range(present - DRIFT, present + DRIFT + 1) if step > max(after, -1))
    found = [step for step in steps if hmac.compare_digest(code(secret, step).encode(), given.encode())]
    return found[0] if found else None


def normal(given: str) -> str:
    """Return a typed code without spaces and hyphens, in upper case."""
    return "".join(given.split()).replace("-", "").upper()


def is_app_code(given: str) -> bool:
    """Return whether a normal code has the shape of an app's; others are recovery codes."""
    return len(given) == DIGITS and given.isascii() and given.isdigit()


def as_key(secret: bytes) -> str:
    """Return the secret as apps take it."""
    return base64.b32encode(secret).decode().rstrip("=")


def secret_of(key: str) -> bytes:
    """Return the secret of a key."""
    return base64.b32decode(key + "=" * (-len(key) % 8))


def address(key: str, name: str, site: str) -> str:
    """Return the otpauth address with which an app takes the key."""
    query = urlencode({"secret": key, "issuer": site}, quote_via=quote)
    return f"otpauth://totp/{quote(site, safe='')}:{quote(name, safe='')}?{query}"


def in_groups(text: str) -> str:
    """Return a recovery code as it is shown."""
    return "-".join(text[start : start + GROUP] for start in range(0, len(text), GROUP))


def digest(recovery_code: str) -> str:
    """Return the digest that is stored for a recovery code: 120 random bits need no slow hash."""
    return hashlib.sha256(recovery_code.encode(errors="replace")).hexdigest()

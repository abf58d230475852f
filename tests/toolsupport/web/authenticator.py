"""An authenticator app for tests, written from RFC 6238 alone: it reads an otpauth address and shows codes."""

from __future__ import annotations

import base64
import hmac
import html
import re
import struct
import time
from urllib.parse import parse_qs, urlsplit


class Authenticator:
    """An app that took the key of a page."""

    def __init__(self, page: str) -> None:
        found = re.search(r'href="(otpauth://[^"]+)"', page)
        assert found, "the page shows no key"
        (secret,) = parse_qs(urlsplit(html.unescape(found[1])).query)["secret"]
        self.secret = base64.b32decode(secret)

    def code(self, steps_ahead: int = 0) -> str:
        digest = hmac.new(self.secret, struct.pack(">Q", int(time.time()) // 30 + steps_ahead), "sha1").digest()
        (number,) = struct.unpack_from(">I", digest, digest[19] % 16)
        return f"{(number % 2**31) % 1000000:06}"

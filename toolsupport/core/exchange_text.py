"""Turns the bytes of a request and of its reply into texts that may be kept: readable, redacted, bounded."""

from __future__ import annotations

import json
import re
import string
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any

from toolsupport.core import redaction, sanitize
from toolsupport.core.redaction import redact, redact_json

# Characters of one text: of a longer one the middle is left out.
LONGEST = 200_000
HEAD = 150_000
TAIL = LONGEST - HEAD
NEAR = 2000  # a cut moves up to so many characters to be at white space, so that it splits no secret

DATA_URL = re.compile(r"data:([\w.+-]{1,40}/[\w.+-]{1,80})?;base64,([A-Za-z0-9+/=_-]+)")
# A reply does not mark images, but ordinary words are never this long.
LONG = 1000
LONG_BASE64 = re.compile(rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{{{LONG},}}+={{0,2}}")
IN_BASE64 = string.ascii_letters + string.digits + "+/"
RUN = re.compile(rf"[{IN_BASE64}]*+")
# Under these names the protocols carry files as base64 and nothing else.
FILES = frozenset({"images", "data", "file_data", "b64_json"})
BEGINNINGS = {"iVBOR": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}


def request_text(body: bytes, tools: bytes = b"") -> str:
    """The body of a request, with the size and digest of each file in its place.

    `tools` is the part of it that many requests repeat, if it has one: that is read once for all of them.
    """
    try:
        text = _around(body, tools) or _dumped(json.loads(body))
    except (ValueError, RecursionError):
        text = redact(_without_data_urls(body.decode(errors="replace")))
    return sanitize.text(_bounded(text))


def _around(body: bytes, tools: bytes) -> str:
    """Return the body with the kept form of its tools, "" if it does not contain them under that name."""
    at = body.rfind(tools) if tools else -1
    try:
        value = json.loads(b"%b0%b" % (body[:at], body[at + len(tools) :])) if at > 0 else None
    except ValueError:
        return ""
    if not isinstance(value, dict) or value.get("tools") != 0:
        return ""
    names = list(value)
    place = names.index("tools")
    before, behind = (
        _dumped({name: value[name] for name in some})[1:-1] for some in (names[:place], names[place + 1 :])
    )
    kept = f'"tools": {_repeated(tools, redaction.known_secrets())}'
    return f"{{{', '.join(filter(None, (before, kept, behind)))}}}"


@lru_cache(maxsize=64)
def _repeated(part: bytes, secrets: int) -> str:
    """A part as it is kept, which is prepared again only after a new secret is known."""
    return _dumped(json.loads(part))


def _dumped(value: Any) -> str:
    return json.dumps(redact_json(_without_files(value)), ensure_ascii=False)


def reply_text(head: bytes, tail: bytes, left_out: int) -> str:
    """A reply as it came; `left_out` are the bytes between its head and its tail that were not kept."""
    begun, ended = head.decode(errors="replace"), tail.decode(errors="replace")
    if left_out:
        kept, rest = _to_space(begun), _from_space(ended)
        lost = left_out + len(begun[len(kept) :].encode()) + len(ended.encode()) - len(rest.encode())
        begun, ended = kept, f"\n[… {lost:,} bytes left out …]\n{rest}"
    text = _without_data_urls(begun + ended)
    text = LONG_BASE64.sub(lambda found: _file(found[0]), text) if _has_long_run(text) else text
    return sanitize.text(_bounded(redact(text)))


def _has_long_run(text: str) -> bool:
    """Return whether LONG_BASE64 finds anything: such a run covers one of the characters LONG apart."""
    for at in range(0, len(text), LONG):
        before = text[max(0, at - LONG) : at]
        run = RUN.match(text, at).end() - at  # type: ignore[union-attr]  # matches everywhere
        if run and run + len(before) - len(before.rstrip(IN_BASE64)) >= LONG:
            return True
    return False


def readable(text: str) -> str:
    """A kept request for people: indented if it is complete."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _bounded(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    head, tail = text[:HEAD], text[-TAIL:]
    return f"{head}\n[… {len(text) - HEAD - TAIL:,} characters left out …]\n{tail}"


def _to_space(text: str) -> str:
    """The text without the last word, which may be half of a secret."""
    near = max(0, len(text) - NEAR)
    return text[: max(text.rfind("\n", near), text.rfind(" ", near), near)]


def _from_space(text: str) -> str:
    """The text without its first word."""
    found = re.search(r"\s", text[:NEAR])
    return text[found.end() if found else NEAR :]


def _without_files(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _without_files(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_files(inner, name) for inner in value]
    if not isinstance(value, str):
        return value
    without = _without_data_urls(value)
    return _file(value) if name in FILES and without == value else without


def _without_data_urls(text: str) -> str:
    replaced: Callable[[re.Match[str]], str] = lambda found: _file(found[2], found[1] or "")  # noqa: E731
    return DATA_URL.sub(replaced, text) if ";base64," in text else text


def _file(written: str, kind: str = "") -> str:
    """The kept form of a file: its kind, size and digest. A text that is not base64 stays as it is."""
    try:
        data = b64decode(written.translate(URL_SAFE), validate=True)
    except (NotBase64, ValueError):
        return written
    kind = kind or next((known for begun, known in BEGINNINGS.items() if written.startswith(begun)), "file")
    return f"[{kind}, {len(data):,} bytes, SHA-256 {sha256(data).hexdigest()}]"


URL_SAFE = str.maketrans("-_", "+/")

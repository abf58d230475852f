"""Builds the answers that the server gives without Django, with the headers that Django would have set."""

from __future__ import annotations

import orjson

from toolsupport.web import api_errors
from toolsupport.web.security_headers import HEADER, policy

FOR_PROGRAMS = tuple(place.encode() for place in api_errors.PLACES)
HEADERS = {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Connection": "close",
    HEADER: policy(),
}
REASONS = {
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


def answer(uri: bytes, status: int, text: str) -> tuple[dict[str, str], bytes]:
    """Return headers and body; a program gets JSON."""
    path = uri.partition(b"?")[0]
    if (path + b"/").startswith(FOR_PROGRAMS):
        body = orjson.dumps(api_errors.body_for(path.decode(errors="replace"), status, text))
        return HEADERS | {"Content-Type": "application/json"}, body
    return HEADERS, f"{status} {text}\n".encode()


def raw(uri: bytes, status: int, text: str) -> bytes:
    """Return the whole answer as bytes, if there is no request that could send it."""
    headers, body = answer(uri, status, text)
    fields = headers | {"Content-Length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} {REASONS.get(status, 'Error')}\r\n{lines}\r\n".encode() + body

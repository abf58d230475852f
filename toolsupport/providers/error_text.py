"""Explains to people why a request to a server failed.

The same fault arrives as different exceptions: httpx's own transport raises its own classes; the aiohttp transport
turns refused connections and unknown names into ConnectTimeout and lets some of aiohttp's errors through. So one table,
specific rows first, is compared with the whole chain of causes.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp
import httpx

from toolsupport.core.events import Failed
from toolsupport.core.quote_foreign_text import quoted
from toolsupport.core.sentences import sentence
from toolsupport.core.server_refusals import classify
from toolsupport.core.types import Endpoint
from toolsupport.providers.address_guard import AddressRefused, InsideRefused
from toolsupport.providers.server_kinds import provider


class KeyUnwritable(httpx.LocalProtocolError):
    """A key that no header can hold, stored by an older version."""


@dataclass(frozen=True, slots=True)
class FailureCause:
    """`kind` is a key of events.FAILURES, `words` is a part of the sentence, `again`: a retry may help."""

    kind: str
    words: str
    again: bool = False


REFUSED = FailureCause("unreachable", sentence("connection_refused"), again=True)
CLOSED = FailureCause("unreachable", sentence("connection_closed"), again=True)
NO_NAME = FailureCause("unreachable", sentence("name_unknown"))
NO_TRUST = FailureCause("unreachable", sentence("certificate_untrusted"))
NO_TLS = FailureCause("unreachable", sentence("not_secure"))
NOT_TAKEN = FailureCause("unreachable", sentence("not_connected_in_time"))
ADDRESS = FailureCause("unreachable", sentence("address_unusable"))
INSIDE = FailureCause("unreachable", sentence("address_inside"))
NEVER_USED = FailureCause("unreachable", sentence("address_never_used"))
SILENT = FailureCause("timeout", sentence("no_data_in_time"))
ODD = FailureCause("garbled", sentence("not_http"))

# Exception → its meaning before the first byte of an answer. The first row that matches any link of the chain
# counts: the most specific rows come first.
CAUSES: tuple[tuple[type[BaseException], FailureCause], ...] = (
    (InsideRefused, INSIDE),
    (AddressRefused, NEVER_USED),
    (ssl.SSLCertVerificationError, NO_TRUST),
    (ssl.SSLError, NO_TLS),
    (aiohttp.ClientSSLError, NO_TLS),
    (socket.gaierror, NO_NAME),
    (ConnectionRefusedError, REFUSED),
    (ConnectionResetError, CLOSED),
    (BrokenPipeError, CLOSED),
    (aiohttp.ServerDisconnectedError, CLOSED),
    (aiohttp.ConnectionTimeoutError, NOT_TAKEN),
    (aiohttp.ServerTimeoutError, SILENT),
    (aiohttp.InvalidURL, ADDRESS),
    (aiohttp.ClientPayloadError, CLOSED),
    (aiohttp.ClientResponseError, ODD),
    (httpx.PoolTimeout, NOT_TAKEN),
    (httpx.ReadTimeout, SILENT),
    (httpx.WriteTimeout, SILENT),
    (httpx.ProxyError, FailureCause("unreachable", sentence("proxy_answers"))),
    (httpx.UnsupportedProtocol, ADDRESS),
    (httpx.InvalidURL, ADDRESS),
    (httpx.RemoteProtocolError, ODD),
    (KeyUnwritable, FailureCause("refused", sentence("key_unwritable"))),
    (httpx.LocalProtocolError, FailureCause("refused", sentence("request_unwritable"))),
    (httpx.DecodingError, ODD),
    (httpx.TooManyRedirects, FailureCause("refused", sentence("redirects"))),
    (httpx.StreamError, FailureCause("garbled", sentence("answer_unreadable"))),
    (TimeoutError, NOT_TAKEN),  # of the system; the transport's clock recognises our own limits
    (OSError, FailureCause("unreachable", sentence("no_route"))),
    (httpx.ConnectTimeout, NOT_TAKEN),
    (httpx.TimeoutException, SILENT),
    (httpx.NetworkError, CLOSED),
    (aiohttp.ClientError, CLOSED),
)

# Exceptions that may end a request: every one of these is mapped, none leaves this package.
FAULTS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, aiohttp.ClientError, OSError, TimeoutError)

BUSY = frozenset({408, 429, 503, 529})  # 529 is Anthropic's: overloaded_error
DISCONNECTED = "disconnected without sending"  # h11's words for a server that closed before it answered


def cause_of(error: BaseException) -> FailureCause:
    """Return the cause of an exception before the first byte of the answer."""
    chain = list(_chain(error))
    if any(isinstance(link, httpx.RemoteProtocolError) and DISCONNECTED in str(link) for link in chain):
        return CLOSED
    fitting = (cause for kind, cause in CAUSES if any(isinstance(link, kind) for link in chain))
    return next(fitting, FailureCause("unreachable", sentence("connection_failed")))


def not_reached(endpoint: Endpoint, error: BaseException) -> Failed:
    """Return the failure of a reply that ended before its first byte."""
    cause = cause_of(error)
    return failed(endpoint, cause.kind, cause.words)


def too_late(endpoint: Endpoint, seconds: float) -> Failed:
    """Return the failure of a request that was not answered within this time."""
    return failed(endpoint, "timeout", sentence("nothing_came", seconds=seconds))


def failed(endpoint: Endpoint, kind: str, words: str) -> Failed:
    """Return a failure before the first byte, as a sentence with advice."""
    server, kind_of_server = shown(endpoint), provider(endpoint.kind)
    if kind == "garbled":
        return Failed(kind, sentence("server_of_another_kind", server=server, title=kind_of_server.title, cause=words))
    return Failed(kind, sentence("server_silent", server=server, cause=words, hint=kind_of_server.hint))


def broken_off(error: BaseException) -> Failed:
    """Return the failure of a reply that ended after it had begun."""
    cause = cause_of(error)
    return Failed("cut", sentence("answer_cut_off", cause=CLOSED.words if cause.kind == "garbled" else cause.words))


def answered(endpoint: Endpoint, status: int, body: str) -> Failed:
    """Return the failure for a status other than 200."""
    words = classify(status, body).message
    kind = _kind(status, words)
    facts = {"server": shown(endpoint), "text": quoted(words) if words else _phrase(status)}
    facts |= {} if kind == "model_missing" else {"status": str(status)}
    code = "server_without_key" if status == 401 and not endpoint.api_key else ANSWERED[kind]
    return Failed(kind, sentence(code, **facts), status, body)


# Kind → its sentence.
ANSWERED = {
    "unauthorized": "server_unauthorized",
    "model_missing": "server_without_model",
    "busy": "server_busy",
    "refused": "server_refused",
    "server": "server_failed",
}


def _kind(status: int, words: str) -> str:
    if status in (401, 403):
        return "unauthorized"
    if status == 404 and "model" in words.lower():
        return "model_missing"
    if status in BUSY:
        return "busy"
    return "server" if status >= 500 or status < 300 else "refused"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase.lower()
    except ValueError:
        return "it gave no reason"


def shown(endpoint: Endpoint) -> str:
    """Return the address for display, without a name or password in it."""
    return re.sub(r"(?<=//)[^/?#]*@", "", endpoint.base_url).rstrip("/")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes. aiohttp keeps the system's error in an attribute, others in the cause."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        inner = getattr(link, "os_error", None)
        if isinstance(inner, BaseException):
            yield inner
        link = link.__cause__ or link.__context__

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
from toolsupport.core.quotation import quoted
from toolsupport.core.refusals import classify
from toolsupport.core.types import Endpoint
from toolsupport.providers.address_guard import AddressRefused, InsideRefused
from toolsupport.providers.server_kinds import provider


@dataclass(frozen=True, slots=True)
class FailureCause:
    """`kind` is a key of events.FAILURES, `words` is a part of the sentence, `again`: a retry may help."""

    kind: str
    words: str
    again: bool = False


REFUSED = FailureCause("unreachable", "connection refused", again=True)
CLOSED = FailureCause("unreachable", "the connection was closed", again=True)
NO_NAME = FailureCause("unreachable", "its name is not known")
NO_TRUST = FailureCause("unreachable", "its certificate is not trusted")
NO_TLS = FailureCause("unreachable", "no secure connection could be made")
NOT_TAKEN = FailureCause("unreachable", "no connection in time")
ADDRESS = FailureCause("unreachable", "its address cannot be used")
INSIDE = FailureCause(
    "unreachable", "its address is inside this network; an administrator can allow that on the server's page"
)
NEVER_USED = FailureCause("unreachable", "it resolves to an address that is never used, such as cloud metadata")
SILENT = FailureCause("timeout", "no data came in time")
ODD = FailureCause("garbled", "it does not speak HTTP")

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
    (httpx.ProxyError, FailureCause("unreachable", "a proxy answers in its place")),
    (httpx.UnsupportedProtocol, ADDRESS),
    (httpx.InvalidURL, ADDRESS),
    (httpx.RemoteProtocolError, ODD),
    (httpx.LocalProtocolError, FailureCause("refused", "the request cannot be written")),
    (httpx.DecodingError, ODD),
    (httpx.TooManyRedirects, FailureCause("refused", "it redirects to another address")),
    (httpx.StreamError, FailureCause("garbled", "its answer could not be read")),
    (TimeoutError, NOT_TAKEN),  # of the system; the transport's clock recognises our own limits
    (OSError, FailureCause("unreachable", "the network has no route to it")),
    (httpx.ConnectTimeout, NOT_TAKEN),
    (httpx.TimeoutException, SILENT),
    (httpx.NetworkError, CLOSED),
    (aiohttp.ClientError, CLOSED),
)

# What may end a request: every one of these is mapped, none leaves this package.
FAULTS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, aiohttp.ClientError, OSError, TimeoutError)

BUSY = frozenset({408, 429, 503})
DISCONNECTED = "disconnected without sending"  # h11's words for a server that closed before it answered


def cause_of(error: BaseException) -> FailureCause:
    """Return the cause of an exception before the first byte of the answer."""
    chain = list(_chain(error))
    if any(isinstance(link, httpx.RemoteProtocolError) and DISCONNECTED in str(link) for link in chain):
        return CLOSED
    fitting = (cause for kind, cause in CAUSES if any(isinstance(link, kind) for link in chain))
    return next(fitting, FailureCause("unreachable", "the connection failed"))


def not_reached(endpoint: Endpoint, error: BaseException) -> Failed:
    """Return the failure of a reply that ended before its first byte."""
    cause = cause_of(error)
    return failed(endpoint, cause.kind, cause.words)


def failed(endpoint: Endpoint, kind: str, words: str) -> Failed:
    """Return a failure before the first byte, as a sentence with advice."""
    server = shown(endpoint)
    if kind == "garbled":
        title = provider(endpoint.kind).title
        return Failed(kind, f"What answers at {server} is not {title} ({words}). Check the address.")
    return Failed(kind, f"The server at {server} does not answer ({words}). {provider(endpoint.kind).hint}")


def broken_off(error: BaseException) -> Failed:
    """Return the failure of a reply that ended after it had begun."""
    cause = cause_of(error)
    return Failed("cut", f"The answer was cut off: {CLOSED.words if cause.kind == 'garbled' else cause.words}.")


def answered(endpoint: Endpoint, status: int, body: str) -> Failed:
    """Return the failure for a status other than 200."""
    words = classify(status, body).message
    kind = _kind(status, words)
    lead = LEADS[kind].format(server=shown(endpoint), status=status)
    return Failed(kind, f"{lead} {quoted(words) if words else _phrase(status)}.", status, body)


LEADS = {
    "unauthorized": "The server at {server} requires another API key ({status}):",
    "model_missing": "The server at {server} does not have this model:",
    "busy": "The server at {server} is busy ({status}):",
    "refused": "The server at {server} refused the request ({status}):",
    "server": "The server at {server} failed ({status}):",
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

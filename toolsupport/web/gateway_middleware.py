"""Lists the middleware of requests to /v1 that come with an API key: the checks of the site without its sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.decorators import async_only_middleware

from toolsupport.web.host_check import HostCheck

PLACE = "/v1/"
MIDDLEWARE = [
    "toolsupport.web.request_log.Accounted",
    "toolsupport.web.security_headers.ContentSecurityPolicy",
    "toolsupport.web.api_errors.JsonErrors",
    "toolsupport.web.storage_errors.StorageErrors",
    "toolsupport.web.gateway_middleware.DjangoChecks",
    "toolsupport.web.authentication.api_key_auth.Bearer",
    "toolsupport.web.unstorable_texts.NoNulInAddress",
]
# Left out, each with the reason why a request with a key does not need it.
LEFT_OUT = {
    "servestatic.middleware.ServeStaticMiddleware": "no static file is below /v1",
    "toolsupport.web.page_compression.PageCompression": "it is for pages on slow lines; programs are rarely far away",
    "django.contrib.sessions.middleware.SessionMiddleware": "the key is the only proof that counts",
    "django.middleware.csrf.CsrfViewMiddleware": "no browser adds a key by itself",
    "toolsupport.web.authentication.session_person.SessionPerson": "the key names the person",
    "toolsupport.web.authentication.trusted_header.TrustedHeader": "the key is the only proof that counts",
    "toolsupport.web.unstorable_texts.NoNul": "fields of JSON are checked by the views, addresses by NoNulInAddress",
    "toolsupport.web.refused_methods.NoTrace": "the views of the API name their own methods",
    "toolsupport.web.refused_methods.form_addresses": "no address of the API is opened in a browser",
    "django.contrib.messages.middleware.MessageMiddleware": "messages are for pages",
    "django_htmx.middleware.HtmxMiddleware": "fragments are for pages",
}
# Run by DjangoChecks, in one step instead of a change of threads for each.
JOINED = (SecurityMiddleware, HostCheck, XFrameOptionsMiddleware)


def has_key(scope: Any) -> bool:
    """Return whether this is a request to /v1 with an API key, valid or not."""
    if scope["type"] != "http" or not scope["path"].startswith(PLACE):
        return False
    return any(_is_key(name, value) for name, value in scope["headers"])


def _is_key(name: bytes, value: bytes) -> bool:
    if name == b"x-api-key":
        return bool(value.strip())
    kind, _, key = value.partition(b" ")
    return name == b"authorization" and kind.lower() == b"bearer" and bool(key.strip())


@async_only_middleware
def DjangoChecks(get_response: Any) -> Any:
    """Middleware that applies Django's own checks and headers: host, HTTPS, frames, content type, content length."""
    for made in reversed(JOINED):
        get_response = convert_exception_to_response(_applied(made(get_response), get_response))
    return get_response


def _applied(part: Any, get_response: Any) -> Callable[[HttpRequest], Any]:
    """Return a part of the chain that stays in the event loop: it neither waits nor reads rows."""

    async def answer(request: HttpRequest) -> HttpResponseBase:
        refused = part.process_request(request) if hasattr(part, "process_request") else None
        response: HttpResponseBase = part.process_response(request, refused or await get_response(request))
        return response

    return answer

"""Numbers, counts and logs every request."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from toolsupport.config import metrics, traces
from toolsupport.config.logs import request_id
from toolsupport.config.traces import TraceSpan
from toolsupport.web.api_errors import MESSAGES

log = logging.getLogger(__name__)

HEADER = "X-Request-ID"
ANTHROPIC_HEADER = "Request-Id"  # where Anthropic's packages look for the number
FIT = re.compile(r"[\w.-]{8,64}")
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Requested every few seconds by probes: counted, but not logged.
UNREMARKED = {"healthz", "readyz", "metrics"}
# A request from here may name the span of the program that sent it.
PROGRAMS = "/v1/"


@sync_and_async_middleware
def Accounted(get_response: Any) -> Callable[[HttpRequest], Any]:
    """Middleware; a number from a proxy is reused."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            with _numbered(request) as finish:
                return finish(await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        with _numbered(request) as finish:
            return finish(get_response(request))

    return answer


@contextmanager
def _numbered(request: HttpRequest) -> Iterator[Callable[[HttpResponseBase], HttpResponseBase]]:
    given = request.headers.get(HEADER, "")
    number = given if FIT.fullmatch(given) else uuid.uuid4().hex[:16]
    begun = time.perf_counter()
    traceparent = request.headers.get("traceparent", "") if request.path.startswith(PROGRAMS) else ""
    span = traces.begin_request(traceparent, request=number)

    def finish(response: HttpResponseBase) -> HttpResponseBase:
        response.headers[HEADER] = number
        if f"{request.path}/".startswith(MESSAGES):
            response.headers[ANTHROPIC_HEADER] = number
        _end(span, request, response)
        _account(request, response.status_code, time.perf_counter() - begun)
        return response

    token = request_id.set(number)
    try:
        with traces.inside(span):
            yield finish
    finally:
        request_id.reset(token)


def _end(span: TraceSpan, request: HttpRequest, response: HttpResponseBase) -> None:
    """End the span of a request, that of a stream when it is closed; others, such as for static files, are dropped."""
    match = request.resolver_match
    if not span.records or match is None or match.url_name in UNREMARKED:
        return
    span.rename(f"{_method(request)} /{match.route}")
    span.add(method=_method(request), route=match.route, status=response.status_code)
    if response.status_code >= 500:
        span.fail(str(response.status_code))
    if response.streaming:
        cast(Any, response)._resource_closers.append(span.end)
    else:
        span.end()


def _method(request: HttpRequest) -> str:
    return request.method if request.method in METHODS else "other"


def _account(request: HttpRequest, status: int, seconds: float) -> None:
    method = _method(request)
    metrics.REQUESTS.labels(method, status).inc()
    metrics.REQUEST_SECONDS.observe(seconds)
    match = request.resolver_match
    if match is not None and match.url_name in UNREMARKED:
        return
    # The route, not the address: an address may contain a secret.
    facts = {"method": method, "route": match.route if match else "", "status": status, "ms": round(seconds * 1000, 1)}
    log.info("%(method)s /%(route)s %(status)s in %(ms)s ms", facts, extra=facts)

"""Numbers, counts and logs every request."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from toolsupport.config import metrics
from toolsupport.config.logs import request_id

log = logging.getLogger(__name__)

HEADER = "X-Request-ID"
FIT = re.compile(r"[\w.-]{8,64}")
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Asked every few seconds by machines: counted, but not worth a line.
UNREMARKED = {"healthz", "readyz", "metrics"}


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

    def finish(response: HttpResponseBase) -> HttpResponseBase:
        response.headers[HEADER] = number
        _account(request, response.status_code, time.perf_counter() - begun)
        return response

    token = request_id.set(number)
    try:
        yield finish
    finally:
        request_id.reset(token)


def _account(request: HttpRequest, status: int, seconds: float) -> None:
    method = request.method if request.method in METHODS else "other"
    metrics.REQUESTS.labels(method, status).inc()
    metrics.REQUEST_SECONDS.observe(seconds)
    match = request.resolver_match
    if match is not None and match.url_name in UNREMARKED:
        return
    # The route, not the address: what people type into an address may be a secret.
    facts = {"method": method, "route": match.route if match else "", "status": status, "ms": round(seconds * 1000, 1)}
    log.info("%(method)s /%(route)s %(status)s in %(ms)s ms", facts, extra=facts)

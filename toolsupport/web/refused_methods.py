"""Answers methods that an address does not support: no TRACE anywhere, and a page at the address of a form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin

from toolsupport.web import api_errors
from toolsupport.web.pages import errors

METHODS = ("GET", "HEAD", "POST")


class NoTrace(MiddlewareMixin):
    """Middleware; the views of the API name their own methods in a reply in JSON."""

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        if request.method == "TRACE" and not api_errors.wanted_by(request):
            return HttpResponseNotAllowed(METHODS)
        return None


@sync_and_async_middleware
def form_addresses(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Middleware that shows a page if a browser opens an address that only accepts forms."""
    if iscoroutinefunction(get_response):

        async def asynchronous(request: HttpRequest) -> HttpResponseBase:
            answer: HttpResponseBase = await get_response(request)
            return await sync_to_async(_page)(request, answer) if _refused(request, answer) else answer

        return asynchronous

    def synchronous(request: HttpRequest) -> HttpResponseBase:
        answer: HttpResponseBase = get_response(request)
        return _page(request, answer) if _refused(request, answer) else answer

    return synchronous


def _refused(request: HttpRequest, answer: HttpResponseBase) -> bool:
    return answer.status_code == 405 and request.method == "GET" and not api_errors.wanted_by(request)


def _page(request: HttpRequest, answer: HttpResponseBase) -> HttpResponse:
    page = errors.not_allowed(request)
    page.headers["Allow"] = answer.headers["Allow"]
    return page

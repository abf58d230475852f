"""Refuses TRACE for views that take every method, such as those of Django's administration."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils.deprecation import MiddlewareMixin

from toolsupport.web import api_errors

METHODS = ("GET", "HEAD", "POST")


class NoTrace(MiddlewareMixin):
    """Middleware; the views of the API name their own methods in a reply in JSON."""

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        if request.method == "TRACE" and not api_errors.wanted_by(request):
            return HttpResponseNotAllowed(METHODS)
        return None

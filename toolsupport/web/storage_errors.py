"""Answers requests that fail because nothing can be saved with 503 and the reason."""

from __future__ import annotations

from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin

from toolsupport.registry import storage
from toolsupport.web import api_errors

TITLE = "Cannot save right now"
WORDS = "The reason: {}. Nothing was changed. Pages can still be read; try again in a moment."
RETRY_AFTER = 10  # seconds


class StorageErrors(MiddlewareMixin):
    """Middleware for errors of views; those of other middleware arrive in `errors.failed`."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return unavailable(request, exception)


def unavailable(request: HttpRequest, error: BaseException | None) -> HttpResponse | None:
    """Return the answer to a request that an error of the storage ended; None for any other error."""
    reason = storage.fault(error)
    if not reason:
        return None
    if isinstance(error, Error):
        storage.state.failed(error)
    words = WORDS.format(reason)
    if api_errors.wanted_by(request):
        answer: HttpResponse = api_errors.answer(503, f"{TITLE}. {words}", code="storage")
    else:
        # No request context: it may need the database.
        shown = {"title": TITLE, "words": words, "again": request.method == "GET"}
        page = render_to_string("toolsupport/error.html", shown)
        answer = HttpResponse(page, status=503)
    answer.headers["Retry-After"] = str(RETRY_AFTER)
    return answer

"""Compresses pages, but not streams."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class PageCompression(GZipMiddleware):
    """Django's middleware, except for streams.

    It would compress each piece of a stream separately. Browsers stop after the first piece: a saved file would be
    truncated.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response if response.streaming else super().process_response(request, response)

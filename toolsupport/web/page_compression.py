"""Compresses pages, and sends what is streamed as it is."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class PageCompression(GZipMiddleware):
    """Django's own, but for streams.

    Of a stream it compresses each piece alone. Browsers take the first for the whole: a saved file would be cut.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response if response.streaming else super().process_response(request, response)

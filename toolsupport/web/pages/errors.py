"""The error pages."""

from __future__ import annotations

import sys

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404, is_valid_path

from toolsupport.web import api_errors, storage_errors


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, DisallowedHost):
        words = "An administrator can add the name in the address to TOOLSUPPORT_ALLOWED_HOSTS."
        return _page(request, 400, "This site does not answer under this host name", words)
    return _page(request, 400, "The request could not be read", "Go back and try again.")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    why = str(exception or "") or "Your role does not allow this."
    return _page(request, 403, "You don’t have permission", f"{why} An administrator can change that.")


def not_allowed(request: HttpRequest) -> HttpResponse:
    title, words = "This address has no page", "It only receives a form. Open the page with the form again."
    context = {"title": title, "words": words, "above": _above(request.path)}
    return render(request, "toolsupport/error.html", context, status=405)


def _above(path: str) -> str:
    """Return the nearest parent address, usually that of the page with the form; "" if there is none."""
    while path.count("/") > 2:
        path = path.rstrip("/").rpartition("/")[0] + "/"
        if is_valid_path(path):
            return path
    return ""


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    if api_errors.wanted_by(request) and isinstance(exception, Resolver404):
        message = f"There is no address {request.path}. /api/openapi.json lists all addresses."
        return api_errors.answer(404, message, code="unknown_url")
    return _page(request, 404, "Page not found", "It does not exist, or it is not yours.")


def failed(request: HttpRequest) -> HttpResponse:
    if (unavailable := storage_errors.unavailable(request, sys.exception())) is not None:
        return unavailable
    if api_errors.wanted_by(request):
        return api_errors.answer(500, "The site failed. Its log has the reason.")
    # No request context: it may need the part that failed.
    context = {
        "title": "The site failed",
        "words": "The error is in the server's log. Saved work is not lost.",
        "again": request.method == "GET",
    }
    return HttpResponse(render_to_string("toolsupport/error.html", context), status=500)


NO_PROGRAM = (
    "A page of a browser needs a form token here. A program sends an API key; behind a proxy that signs people in, it "
    "sends `Content-Type: application/json` and no `Origin`, `Referer` or `Sec-Fetch-Site`."
)


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form with an invalid CSRF token, usually one that was open during a sign-in."""
    if api_errors.wanted_by(request):
        return api_errors.answer(403, NO_PROGRAM)
    return _page(request, 403, "This page was open too long", "Reload it, then send the form again.")


def _page(request: HttpRequest, status: int, title: str, words: str) -> HttpResponse:
    if api_errors.wanted_by(request):
        return api_errors.answer(status, f"{title}. {words}")
    return render(request, "toolsupport/error.html", {"title": title, "words": words}, status=status)

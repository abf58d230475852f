"""Refuses forms and addresses with a NUL character, before any view reads them: no database can store or compare it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.decorators import async_only_middleware
from django.utils.deprecation import MiddlewareMixin

from toolsupport.web import api_errors

FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
TITLE = "A character cannot be stored"
WORDS = "The {place} holds a NUL character (U+0000), which cannot be stored. Nothing was changed."


class NoNul(MiddlewareMixin):
    """Middleware after the check of form tokens, which reads the form.

    A view that is exempt from this check looks at the size of a form first, so its form is not read here either.
    """

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: Any) -> HttpResponse | None:
        return _refused(request, form=not getattr(view, "csrf_exempt", False))


@async_only_middleware
def NoNulInAddress(get_response: Any) -> Any:
    """Middleware for programs, whose bodies are JSON with fields that are checked."""

    async def answer(request: HttpRequest) -> HttpResponseBase:
        return _refused(request, form=False) or await get_response(request)

    return answer


def _refused(request: HttpRequest, form: bool) -> HttpResponse | None:
    place = _place(request, form)
    if not place:
        return None
    words = WORDS.format(place=place)
    if api_errors.wanted_by(request):
        answer: HttpResponse = api_errors.answer(400, words)
        return answer
    # No request context: it would read the address again.
    page = render_to_string("toolsupport/error.html", {"title": TITLE, "words": words, "again": False})
    return HttpResponse(page, status=400)


def _place(request: HttpRequest, form: bool) -> str:
    """Return the place of the character, "" if there is none; `form`: search the form as well."""
    if "\0" in request.path or _holds(request.GET.lists()):
        return "address"
    # A view reads a body of another kind itself.
    form = form and request.method == "POST" and request.content_type in FORMS
    return "form" if form and _holds(request.POST.lists()) else ""


def _holds(fields: Iterable[tuple[str, list[Any]]]) -> bool:
    return any("\0" in text for name, values in fields for text in (name, *map(str, values)))

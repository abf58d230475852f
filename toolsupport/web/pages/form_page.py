"""Shared code of pages with a form that creates objects and a list of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from toolsupport.core.errors import ConfigError
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest


def made(form: Form, make: Callable[..., int]) -> int | None:
    """Return the object that `make` creates from the fields; None on an error, which the form then shows."""
    if not form.is_valid():
        return None
    try:
        return make(**form.cleaned_data)
    except ConfigError as error:
        form.add_error(None, str(error))
        return None


def board(request: AuthedRequest, page: str, context: dict[str, Any]) -> HttpResponse:
    """Return the page, or only its part `board` for an htmx swap."""
    return render(request, page + ("#board" if wants_part(request) else ""), context)


def moved_on(request: HttpRequest, address: str, words: str = "", ok: bool = True) -> HttpResponse:
    """Redirect to a page that shows these words: the address of a form has no page of its own."""
    if words:
        messages.add_message(request, messages.SUCCESS if ok else messages.WARNING, words)
    return redirect(address)

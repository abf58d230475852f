"""What pages of things that a form defines have in common: the form that makes one, and the board that is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import render

from toolsupport.core.errors import ConfigError
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest


def made(form: Form, make: Callable[..., int]) -> int | None:
    """What `make` makes of the fields; None where it cannot be made, and then the form says why."""
    if not form.is_valid():
        return None
    try:
        return make(**form.cleaned_data)
    except ConfigError as error:
        form.add_error(None, str(error))
        return None


def board(request: AuthedRequest, page: str, context: dict[str, Any]) -> HttpResponse:
    """The page, or its part `board` alone where that is swapped."""
    return render(request, page + ("#board" if wants_part(request) else ""), context)

"""Django's administration of this site's rows; Django imports this package when it starts."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.contrib.admin import AdminSite
from django.core.exceptions import BadRequest
from django.db import DataError
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from toolsupport.admin import models, naming, people
from toolsupport.registry.people import session_store

__all__ = ["models", "people"]
log = logging.getLogger(__name__)
admin.site.site_header = admin.site.site_title = "Administration of toolsupport"
naming.name_rows(admin.site._registry)


def _permitted(request: HttpRequest) -> bool:
    return AdminSite.has_permission(admin.site, request) and not session_store.confined(request.session)


admin.site.has_permission = _permitted  # type: ignore[method-assign]


def _checked(view: Callable[..., HttpResponseBase], cacheable: bool = False) -> Callable[..., HttpResponseBase]:
    """Refuse a value that no column holds: Django's filters, actions and JSON fields let such numbers through."""
    inner = AdminSite.admin_view(admin.site, view, cacheable)

    @wraps(inner)
    def answer(request: HttpRequest, *given: Any, **named: Any) -> HttpResponseBase:
        try:
            return inner(request, *given, **named)
        except (OverflowError, ValueError, DataError) as error:
            log.warning("Refused a request to Django's administration.", exc_info=True)
            raise BadRequest("A value of this request fits no column.") from error

    return answer


admin.site.admin_view = _checked  # type: ignore[method-assign,assignment]

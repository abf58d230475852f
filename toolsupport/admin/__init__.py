"""Django's administration of this site's rows; Django imports this package when it starts."""

from django.contrib import admin
from django.contrib.admin import AdminSite
from django.http import HttpRequest

from toolsupport.admin import models, people
from toolsupport.registry.people import sessions

__all__ = ["models", "people"]


def _permitted(request: HttpRequest) -> bool:
    return AdminSite.has_permission(admin.site, request) and not sessions.confined(request.session)


admin.site.has_permission = _permitted  # type: ignore[method-assign]

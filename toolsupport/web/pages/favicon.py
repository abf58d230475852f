"""Leads browsers to the icon of the site where they look for it: beside pages and files that name none."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseRedirect
from django.templatetags.static import static
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from toolsupport.web.view_permissions import public


@require_safe
@cache_control(public=True, max_age=3600)
@public
def favicon(request: HttpRequest) -> HttpResponseRedirect:
    """Redirect to the icon, whose address changes with its content."""
    return HttpResponseRedirect(static("img/favicon.svg"))

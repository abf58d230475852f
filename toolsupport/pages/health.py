"""Whether the site is alive, for machines."""

from __future__ import annotations

from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from toolsupport.access import public


@require_safe
@never_cache
@public
def healthz(request: HttpRequest) -> JsonResponse:
    """200 while the process answers and its database does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})

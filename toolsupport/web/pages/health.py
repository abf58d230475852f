"""Health, readiness and metrics endpoints for machines."""

from __future__ import annotations

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from toolsupport.config import metrics as counted
from toolsupport.registry.people.permissions import Action
from toolsupport.services.doctor import migrated
from toolsupport.web.view_permissions import actions_of, public


@require_safe
@never_cache
@public
def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200 while the process and its database answer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
@public
def readyz(request: HttpRequest) -> JsonResponse:
    """Return 200 if the database answers and has every migration; else 503 with the reason."""
    if not migrated():
        why = "The database cannot be reached, or migrations are missing: manage.py doctor tells which."
        return JsonResponse({"status": "not ready", "why": why}, status=503)
    return JsonResponse({"status": "ready"})


@require_safe
@never_cache
@public
def metrics(request: HttpRequest) -> HttpResponse:
    """Return metrics of this process, without names; requires the bearer token if one is set."""
    if not _may_read(request):
        return HttpResponse("A token is needed.\n", "text/plain", 401, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(counted.text(), counted.CONTENT_TYPE)


def _may_read(request: HttpRequest) -> bool:
    wanted = settings.ENV["TOOLSUPPORT_METRICS_TOKEN"]
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return not wanted or constant_time_compare(given, wanted) or Action.ADMINISTER in actions_of(request)

"""Health, readiness and metrics endpoints for machines."""

from __future__ import annotations

from contextlib import suppress

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from toolsupport.config import metrics as counted
from toolsupport.config.application_paths import COMMAND
from toolsupport.core import client_address
from toolsupport.registry import storage
from toolsupport.registry.people import security_events, sign_in_limits
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.testing import open_problems
from toolsupport.services.doctor import migrated
from toolsupport.web.client_ip import address_of
from toolsupport.web.view_permissions import actions_of, public

# Headers that proxies add to requests.
FORWARDED = ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via")


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
    """Return 200 if the database has every migration and takes a write; else 503 with the reason."""
    if not migrated():
        why = f"The database cannot be reached, or migrations are missing. Run {COMMAND} doctor to see which."
        return JsonResponse({"status": "not ready", "why": why}, status=503)
    if reason := storage.state.check():
        return JsonResponse({"status": "not ready", "why": f"Cannot save right now: {reason}."}, status=503)
    return JsonResponse({"status": "ready"})


@require_safe
@never_cache
@public
def metrics(request: HttpRequest) -> HttpResponse:
    """Return metrics of this port's processes, without names: for a token, administrators, or this machine."""
    if _may_read(request):
        _count_marks()
        return HttpResponse(counted.PROCESSES.text(), counted.CONTENT_TYPE)
    if not settings.ENV["TOOLSUPPORT_METRICS_TOKEN"]:
        raise Http404
    return _refused(request)


def _count_marks() -> None:
    """Update the gauges of marks; the other metrics are useful even while the database does not answer."""
    with suppress(DatabaseError):
        for kind, count in open_problems.counts().items():
            counted.MARKS.labels(kind).set(count)


def _may_read(request: HttpRequest) -> bool:
    wanted = settings.ENV["TOOLSUPPORT_METRICS_TOKEN"]
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if wanted and constant_time_compare(given, wanted):
        return True
    return _from_this_machine(request) or Action.ADMINISTER in actions_of(request)


def _from_this_machine(request: HttpRequest) -> bool:
    """Return True for a program on this machine, not a proxy, if the operator allows that."""
    forwarded = any(name in request.headers for name in FORWARDED)
    opened = settings.ENV["TOOLSUPPORT_METRICS_LOOPBACK"] and not settings.BEHIND_HTTPS and not forwarded
    peer = client_address.parsed(request.META.get("REMOTE_ADDR") or "")
    return bool(opened and peer and peer.is_loopback and _names_this_site(request))


def _names_this_site(request: HttpRequest) -> bool:
    """Return False for the name of another page, which a browser on this machine was led here by."""
    try:
        return bool(request.get_host())
    except DisallowedHost:
        return False


def _refused(request: HttpRequest) -> HttpResponse:
    if "Authorization" in request.headers:
        address = address_of(request)
        security_events.record("metrics_token_wrong", address)
        if wait := sign_in_limits.wrong_token("metrics_token_wrong", address):
            return HttpResponse("Too many wrong tokens.\n", "text/plain", 429, headers={"Retry-After": str(wait)})
    return HttpResponse("A token is needed.\n", "text/plain", 401, headers={"WWW-Authenticate": "Bearer"})

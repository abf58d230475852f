"""Views that import and export user_models.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.user_models import MOST_BYTES, MOST_ENTRIES
from toolsupport.registry.models.user_models_merge import MergeConsent, MergePlan
from toolsupport.registry.people.permissions import Action
from toolsupport.services import user_models_files
from toolsupport.web.view_permissions import AuthedRequest, requires

ALL = "all"  # the value of the checkbox that selects every entry


@require_http_methods(["GET", "POST"])
@requires(Action.ADMINISTER)
def take(request: AuthedRequest) -> HttpResponseBase:
    """Upload a file and preview its changes; nothing is stored yet."""
    try:
        if request.method == "POST":
            token = user_models_files.take(_sent(request.FILES.get("file")))
            return HttpResponseRedirect(f"{reverse('models-import')}?file={token}")
        token = request.GET.get("file", "")
        return _page(request, {"token": token, "plans": user_models_files.preview(token)} if token else {})
    except (ConfigError, NotFound) as error:
        return _page(request, {"wrong": str(error)}, status=422)


@require_POST
@requires(Action.ADMINISTER)
def merge(request: AuthedRequest) -> HttpResponse:
    """Merge the file of a preview, with the selected options."""
    ticks = MergeConsent(request.user.pk, _ticked(request.POST, "confirm"), _ticked(request.POST, "outrank"))
    try:
        merged = user_models_files.merge(request.POST.get("file", ""), ticks)
    except (ConfigError, NotFound) as error:
        return _page(request, {"wrong": str(error)}, status=422)
    return _page(request, {"merged": _counted(merged)})


@require_GET
@requires(Action.SEE_MODELS)
def export(request: AuthedRequest) -> HttpResponse:
    """Return the file as a download."""
    answer = HttpResponse(user_models_files.exported(), content_type="application/json")
    answer.headers["Content-Disposition"] = 'attachment; filename="user_models.json"'
    return answer


def _sent(file: UploadedFile[Any] | None) -> bytes:
    """Return the upload up to one byte over the limit, so that the reader can report the excess."""
    if file is None:
        raise ConfigError("Choose a file first.")
    return bytes(file.read(MOST_BYTES + 1))


def _ticked(sent: QueryDict, name: str) -> frozenset[int]:
    """Return the indexes of the selected entries."""
    if ALL in sent.getlist(name):
        return frozenset(range(MOST_ENTRIES))
    return frozenset(
        int(value) for value in sent.getlist(name) if value.isascii() and value.isdigit() and len(value) < 9
    )


def _counted(plans: Iterable[MergePlan]) -> dict[str, int]:
    counts = {"new": 0, "known": 0, "aside": 0}
    for plan in plans:
        counts[plan.state] += 1
    return counts


def _page(request: AuthedRequest, notice: dict[str, Any], status: int = 200) -> HttpResponse:
    if "plans" in notice:
        needs = {name: sum(name in plan.needs for plan in notice["plans"]) for name in ("confirm", "outrank")}
        notice = notice | {"counted": _counted(notice["plans"]), "needs": needs, "ticks": any(needs.values())}
    return render(request, "toolsupport/imports.html", notice, status=status)

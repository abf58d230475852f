"""Views that decide one capability of all models that a filter matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from toolsupport.core.errors import ConfigError
from toolsupport.core.resolve import CAPABILITIES
from toolsupport.core.row_ids import row_number
from toolsupport.registry.knowledge import bulk_decisions, reviews
from toolsupport.registry.knowledge.bulk_decisions import BulkDecision
from toolsupport.registry.models import profiles
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages import capability_form, model_filters
from toolsupport.web.pages.capability_form import CapabilityForm
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "toolsupport/bulk_edit.html"
LISTED = 100  # changes that the preview lists


class BulkForm(CapabilityForm):
    """A value for one capability of many models."""

    newest = None  # type: ignore[assignment]
    capability = forms.ChoiceField(choices=[(name, profiles.title(name)) for name in CAPABILITIES], label="Capability")


@require_http_methods(["GET", "POST"])
@requires(Action.DECIDE_FOR_ALL)
def edit(request: AuthedRequest) -> HttpResponse:
    """Choose a capability and a value, see which models change, and decide for all of them, some in each request."""
    form, wrong = BulkForm(request.POST if request.method == "POST" else request.GET), ""
    valid = form.is_valid() and form.meant is not None
    if request.method == "POST" and valid:
        try:
            return _decide(request, _decision(request, _ids(request.POST.get("models", "")), form))
        except ConfigError as error:
            if wants_part(request):
                messages.error(request, str(error))
                return HttpResponseClientRedirect(reverse("models-edit"))
            wrong = str(error)
    ids = _models(request)
    context = _context(request, ids, _decision(request, ids, form) if valid else None)
    return render(request, PAGE, context | {"form": form, "wrong": wrong or _fault(form)})


def _decide(request: AuthedRequest, decision: BulkDecision) -> HttpResponse:
    """Decide for some of the models; show the progress, or the entry of the history at the end."""
    done = bulk_decisions.step(decision, row_number(request.POST.get("lead", "")))
    if not done.rest:
        entry = reverse("history-entry", args=[done.entry])
        return HttpResponseClientRedirect(entry) if wants_part(request) else redirect(entry)
    total = max(row_number(request.POST.get("total", "")), len(decision.profiles))
    context: dict[str, Any] = {name: request.POST.get(name, "") for name in ("capability", "value", "reason", "seen")}
    context |= {"lead": done.entry or "", "listed": _listed(done.rest), "total": total, "done": total - len(done.rest)}
    return render(request, PAGE + ("#progress" if wants_part(request) else ""), context)


def _ids(listed: str) -> list[int]:
    """Return the models (ids) of the preview, even if the filter matches others by now."""
    return [number for number in dict.fromkeys(map(row_number, listed.split(","))) if number]


def _listed(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def _models(request: AuthedRequest) -> list[int]:
    """Return the models (ids) that the filter in the address matches."""
    needing = reviews.needing() if request.GET.get(model_filters.REVIEW) else frozenset[int]()
    return [row.id for row in model_filters.sifted(profiles.listed(), request.GET, needing)]


def _decision(request: AuthedRequest, ids: list[int], form: BulkForm) -> BulkDecision:
    given, seen = form.cleaned_data, row_number(request.POST.get("seen", ""))
    return BulkDecision(ids, given["capability"], form.meant, seen, request.user.pk, given["reason"])


def _context(request: AuthedRequest, ids: list[int], decision: BulkDecision | None) -> dict[str, Any]:
    given = request.POST if request.method == "POST" else request.GET
    capability = given.get("capability", "")
    known = capability if capability in CAPABILITIES else CAPABILITIES[0]
    changes = bulk_decisions.preview(decision) if decision else ()
    rows = [(change, profiles.state_and_words(known, change.before)[1]) for change in changes[:LISTED]]
    fields = (*model_filters.FILTERS, model_filters.REVIEW, "q")
    filters = [(name, request.GET[name]) for name in fields if request.GET.get(name)]
    return {
        "models": len(ids),
        "capability": known,
        "choices": capability_form.choices(known),
        "value": given.get("value", ""),
        "reason": given.get("reason", ""),
        "decision": decision,
        "after": profiles.state_and_words(known, decision.value)[1] if decision else "",
        "changes": changes,
        "rows": rows,
        "listed": _listed([change.profile for change in changes]),
        "seen": bulk_decisions.newest(),
        "filters": filters,
        "query": urlencode(filters),
    }


def _fault(form: BulkForm) -> str:
    """Return the errors of a chosen value; none before one is chosen."""
    return form.wrong() if form.data.get("value") else ""

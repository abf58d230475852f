"""Views that decide one capability of all models that a filter matches."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from toolsupport.core.errors import ConfigError
from toolsupport.core.resolve import CAPABILITIES
from toolsupport.core.row_ids import row_number
from toolsupport.registry.knowledge import bulk_decisions, reviews
from toolsupport.registry.knowledge.bulk_decisions import BulkDecision
from toolsupport.registry.models import profiles
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages import capability_form, model_filters
from toolsupport.web.pages.capability_form import CapabilityForm
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "toolsupport/bulk_edit.html"
LISTED = 100  # changes that the preview names


class BulkForm(CapabilityForm):
    """A value for one capability of many models."""

    newest = None  # type: ignore[assignment]
    capability = forms.ChoiceField(choices=[(name, profiles.title(name)) for name in CAPABILITIES], label="Capability")


@require_http_methods(["GET", "POST"])
@requires(Action.DECIDE_FOR_ALL)
def edit(request: AuthedRequest) -> HttpResponse:
    """Choose a capability and a value, see which models change, decide for all of them."""
    given = request.POST if request.method == "POST" else request.GET
    ids, form, wrong = _models(request), BulkForm(given), ""
    decision = _decision(request, ids, form) if form.is_valid() and form.meant is not None else None
    if request.method == "POST" and decision:
        try:
            return redirect("history-entry", bulk_decisions.apply(decision).entry)
        except ConfigError as error:
            wrong = str(error)
    return render(request, PAGE, _context(request, ids, decision) | {"form": form, "wrong": wrong or _fault(form)})


def _models(request: AuthedRequest) -> list[int]:
    """Return the models (ids) that the filter in the address matches."""
    needing = reviews.needing() if request.GET.get(model_filters.REVIEW) else frozenset[int]()
    return [row.id for row in model_filters.sifted(profiles.listed(), request.GET, needing)]


def _decision(request: AuthedRequest, ids: list[int], form: BulkForm) -> BulkDecision:
    given = form.cleaned_data
    seen = row_number(request.POST.get("seen", ""))
    # Only the models of the preview: others may match the filter by now.
    shown = {row_number(one) for one in request.POST.get("models", "").split(",")}
    chosen = [one for one in ids if one in shown] if request.method == "POST" else ids
    return BulkDecision(chosen, given["capability"], form.meant, seen, request.user.pk, given["reason"])


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
        "most": bulk_decisions.MOST,
        "capability": known,
        "choices": capability_form.choices(known),
        "value": given.get("value", ""),
        "reason": given.get("reason", ""),
        "decision": decision,
        "after": profiles.state_and_words(known, decision.value)[1] if decision else "",
        "changes": changes,
        "rows": rows,
        "listed": ",".join(str(change.profile) for change in changes),
        "seen": bulk_decisions.newest(),
        "filters": filters,
        "query": urlencode(filters),
    }


def _fault(form: BulkForm) -> str:
    """Return the errors of a chosen value; none before one is chosen."""
    return form.wrong() if form.data.get("value") else ""

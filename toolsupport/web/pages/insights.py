"""View of the plots: outcomes of each model's calls, in each format, over time."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from toolsupport.registry.metrics import insights
from toolsupport.registry.metrics.insights import InsightsFilter
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.forms import InsightsForm
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "toolsupport/insights.html"
DAYS = 30


@require_GET
@requires(Action.SEE_MODELS)
def shown(request: AuthedRequest) -> HttpResponse:
    """Show the plots with their data table; the last thirty days by default."""
    form = InsightsForm(request.GET if request.GET else {"since": _first_day()})
    found = insights.found(filter_of(form))
    context = {"form": form, "found": found, "filtered": bool(request.GET), "may_chat": Action.CHAT in request.actions}
    return render(request, PAGE + ("#figures" if wants_part(request) else ""), context)


def _first_day() -> str:
    return (timezone.now().date() - timedelta(days=DAYS - 1)).isoformat()


def filter_of(form: InsightsForm) -> InsightsFilter:
    """Return the form's filter; invalid fields match everything."""
    form.is_valid()
    given = form.cleaned_data
    return InsightsFilter(given.get("profile"), given.get("format", ""), given.get("since"), given.get("until"))

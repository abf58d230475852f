"""View of the plots: outcomes of each model's calls, in each format, over time."""

from __future__ import annotations

from datetime import date, timedelta

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from toolsupport.core import spreadsheet
from toolsupport.registry.metrics import error_rates, insight_summary, insights
from toolsupport.registry.metrics.insights import InsightsFilter
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.filter_forms import InsightsForm
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "toolsupport/insights.html"
DAYS = 30
# Column of the file → its heading.
COLUMNS = {
    "day": "day",
    "model": "model",
    "label": "format",
    "calls": "calls",
    "success": "could_run_percent",
    "valid": "valid",
    "repaired": "repaired",
    "unreadable": "unreadable",
    "unknown": "unknown_tool",
    "misfit": "wrong_arguments",
    "in_prose": "in_prose",
    "refused": "refused",
    "seconds": "seconds",
    "tokens_each": "tokens_each",
}
SPANS = (("Day", 1), ("7 days", 7), ("30 days", DAYS))


@require_GET
@requires(Action.SEE_MODELS)
def shown(request: AuthedRequest) -> HttpResponse:
    """Show the outcomes as a sentence, numbers, bars and a table; by default of the last thirty days."""
    today = timezone.now().date()
    form = InsightsForm(request.GET if request.GET else {"since": _first_day(today, DAYS)})
    wanted = filter_of(form)
    found = insights.found(wanted)
    context = {"form": form, "found": found, "filtered": bool(request.GET), "may_chat": Action.CHAT in request.actions}
    models, days = insights.sums(wanted, found)
    context |= {"rates": error_rates.rates(models, days), "spans": _spans(request, today)}
    context["summary"] = insight_summary.summary(models, days, wanted, today)
    return render(request, PAGE + ("#figures" if wants_part(request) else ""), context | _link(wanted, today))


@require_GET
@requires(Action.SEE_MODELS)
def export(request: AuthedRequest) -> HttpResponse:
    """Return the days of the table as a CSV file."""
    form = InsightsForm(request.GET if request.GET else {"since": _first_day(timezone.now().date(), DAYS)})
    points = insights.found(filter_of(form), insights.MOST_EXPORTED).points
    rows = [[getattr(point, name) for name in COLUMNS] for point in points]
    text = spreadsheet.lines([[COLUMNS[name] for name in COLUMNS], *([str(value) for value in row] for row in rows)])
    headers = {"Content-Disposition": 'attachment; filename="insights.csv"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)


def _spans(request: AuthedRequest, today: date) -> list[dict[str, object]]:
    """The links of the usual periods; the current one is marked."""
    since = request.GET.get("since", "" if request.GET else _first_day(today, DAYS))
    shown = [(title, _first_day(today, days)) for title, days in SPANS]
    return [{"title": title, "since": day, "here": day == since} for title, day in shown]


def _link(wanted: InsightsFilter, today: date) -> dict[str, str]:
    """The query strings of the calls and refusals that a number links to."""
    given = {"since": wanted.since, "until": wanted.until or today, "profile": wanted.profile, "format": wanted.format}
    refusals = {"kind": "refusal", "since": wanted.since, "until": wanted.until or today, "profile": wanted.profile}
    queries = {"calls_query": given, "refusals_query": refusals}
    return {
        key: urlencode({name: str(value) for name, value in query.items() if value}) for key, query in queries.items()
    }


def _first_day(today: date, days: int) -> str:
    return (today - timedelta(days=days - 1)).isoformat()


def filter_of(form: InsightsForm) -> InsightsFilter:
    """Return the form's filter; invalid fields match everything."""
    form.is_valid()
    given = form.cleaned_data
    return InsightsFilter(given.get("profile"), given.get("format", ""), given.get("since"), given.get("until"))

"""Views of the history of models' facts, and of people's reactions to it."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime, time, timedelta
from typing import Any

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import Conflict
from toolsupport.registry.history import timeline
from toolsupport.registry.history.timeline_query import TimelineCursor, TimelineFilter
from toolsupport.registry.knowledge import reviews
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.testing import detection_reports
from toolsupport.registry.testing.detection_reports import ShownTrial
from toolsupport.web.pages import history_files
from toolsupport.web.pages.forms import HistoryForm
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "toolsupport/history.html"
ONE = "toolsupport/history_entry.html"


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: AuthedRequest) -> HttpResponse:
    """Show one page of the timeline; `after` is the end of the page before."""
    form, after = HistoryForm(request.GET), TimelineCursor.read(request.GET.get("after", ""))
    found = timeline.page(filter_of(form), after)
    if after is None and not form.chosen():
        timeline.mark_read(request.user.pk)
    context = {"form": form, "found": found, "query": form.query(), "first": after is None} | _rights(request)
    return render(request, PAGE + ("#entries" if wants_part(request) else ""), context)


@require_GET
@requires(Action.SEE_MODELS)
def entry(request: AuthedRequest, entry_id: int) -> HttpResponse:
    """Show one entry with its evidence."""
    return _entry(request, entry_id, {})


@require_POST
@requires(Action.REVIEW)
def act(request: AuthedRequest, entry_id: int) -> HttpResponse:
    """Agree, disagree, revert, accept or reject."""
    judgement = reviews.NewReview(entry_id, request.user.pk, request.POST.get("note", "").strip()[:2000])
    deed = request.POST.get("do", "")
    try:
        reviews.act(deed, judgement)
    except (Conflict, ValueError) as error:
        current = getattr(error, "current", "")
        return _entry(request, entry_id, {"wrong": str(error), "current": current, "note": judgement.note})
    return _entry(request, entry_id, {"done": DONE[deed]})


@require_GET
@requires(Action.EXPORT_HISTORY)
def export(request: AuthedRequest, ending: str) -> StreamingHttpResponse:
    """Return everything that matches the filter, as a file."""
    if ending not in history_files.FILES:
        raise Http404("There is no such kind of file.")
    kind, write = history_files.FILES[ending]
    pieces = history_files.streamed(write(filter_of(HistoryForm(request.GET))))
    headers = {"Content-Disposition": f'attachment; filename="history.{ending}"'}
    return StreamingHttpResponse(pieces, content_type=kind, headers=headers)


DONE = {
    "agree": "Noted: you agree.",
    "disagree": "Noted. The value stays; the model now needs review.",
    "revert": "Withdrawn: what held before shows again.",
    "accept": "Accepted: it holds for everyone.",
    "reject": "Rejected: nothing changes.",
}


def filter_of(form: HistoryForm) -> TimelineFilter:
    """Return the form's filter; invalid fields match everything."""
    form.is_valid()
    given = form.cleaned_data
    since, until = given.get("since"), given.get("until")
    return TimelineFilter(
        profile=given.get("profile"),
        server=given.get("server"),
        source=given.get("source", ""),
        verdict=given.get("verdict", ""),
        kind=given.get("kind", ""),
        actor=given.get("actor"),
        since=_midnight(since) if since else None,
        until=_midnight(until + timedelta(days=1)) if until else None,
    )


def _midnight(day: Any) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _rights(request: AuthedRequest) -> dict[str, bool]:
    allowed = request.actions
    return {
        "may_review": Action.REVIEW in allowed,
        "may_export": Action.EXPORT_HISTORY in allowed,
        "may_detect": Action.DETECT in allowed,
    }


def _entry(request: AuthedRequest, entry_id: int, said: dict[str, Any]) -> HttpResponse:
    """Return the page of one entry, or the entry alone."""
    shown = timeline.entry(entry_id)
    trials = [_trial(trial) for trial in detection_reports.trials(shown.detection)] if shown.detection else []
    context = {"entry": shown, "trials": trials, "open": True} | _rights(request) | said
    return render(request, ONE + ("#entry" if wants_part(request) else ""), context)


def _trial(trial: ShownTrial) -> dict[str, Any]:
    sent, answered = (json.dumps(value, ensure_ascii=False, indent=2) for value in (trial.request, trial.response))
    return asdict(trial) | {"sent": sent, "answered": answered}

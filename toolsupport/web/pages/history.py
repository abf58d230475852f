"""Views of the history of models' facts, and of people's reactions to it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import Conflict
from toolsupport.registry.history import bundles, read_marks, timeline
from toolsupport.registry.history.bundles import BundleSummary
from toolsupport.registry.history.timeline import TimelineEntry, TimelinePage
from toolsupport.registry.history.timeline_query import TimelineCursor, TimelineFilter
from toolsupport.registry.knowledge import reviews
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.testing import detection_reports
from toolsupport.registry.testing.detection_reports import ShownTrial
from toolsupport.web.pages import history_files
from toolsupport.web.pages.forms import HistoryForm
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

MOST_WAITING = 100
PAGE = "toolsupport/history.html"
ONE = "toolsupport/history_entry.html"


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry as the list shows it: what stands inside of it, and the heading of the bundle it stands for or ""."""

    entry: TimelineEntry
    inside: BundleSummary
    bundle: str
    unread: bool


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: AuthedRequest) -> HttpResponse:
    """Show one page of the timeline, or what waits for a reviewer; `after` is the end of the page before."""
    form, after = HistoryForm(request.GET), TimelineCursor.read(request.GET.get("after", ""))
    waiting = reviews.to_review(MOST_WAITING + 1)
    review = bool(request.GET.get("review"))
    wanted = filter_of(form)
    found = TimelinePage(timeline.entries_of(waiting), None) if review else timeline.page(wanted, after)
    context = _listed(request, found, wanted.open and not review) | _rights(request)
    context |= {"form": form, "query": form.query(), "first": after is None, "review": review, "waiting": waiting}
    return render(request, PAGE + ("#entries" if wants_part(request) else ""), context)


@require_POST
@requires(Action.SEE_MODELS)
def read_all(request: AuthedRequest) -> HttpResponse:
    """Mark everything as read for the person who asks."""
    read_marks.mark_all(request.user.pk)
    return redirect("history")


@require_GET
@requires(Action.SEE_MODELS)
def entry(request: AuthedRequest, entry_id: int) -> HttpResponse:
    """Show one entry with its evidence; it then counts as read by this person."""
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
    "undo": "Undone: what held before shows again.",
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


def _entry(request: AuthedRequest, entry_id: int, notice: dict[str, Any]) -> HttpResponse:
    """Return the page of one entry, or the entry alone. `alone`: the first entry of a bundle, without the others."""
    shown = timeline.entry(entry_id)
    read_marks.mark_entry(request.user.pk, shown.id)
    inside = bundles.summaries([shown.id]).get(shown.id, BundleSummary())
    bundle = "" if request.GET.get("alone") else timeline.bundle_words(shown, inside)
    tested = None if bundle else shown.detection
    trials = [_trial(trial) for trial in detection_reports.trials(tested)] if tested else []
    context = {
        "entry": shown,
        "trials": trials,
        "inside": inside,
        "bundle": bundle,
        "alone": inside.changes and not bundle,
        "members": _oldest_first(bundles.members(entry_id)) if bundle else (),
        "findings": _oldest_first(bundles.findings(entry_id)) if inside.findings and not bundle else (),
        "open": True,
    }
    return render(request, ONE + ("#entry" if wants_part(request) else ""), context | _rights(request) | notice)


def _listed(request: AuthedRequest, found: TimelinePage, bundled: bool) -> dict[str, Any]:
    """The entries with what stands inside of each; `bundled`: the entries of one act are one."""
    ids = [entry.id for entry in found.entries]
    summaries = bundles.summaries(ids)
    unread = read_marks.unread_among(request.user.pk, ids)
    shown = [
        ListedEntry(entry, inside, timeline.bundle_words(entry, inside) if bundled else "", entry.id in unread)
        for entry in found.entries
        for inside in [summaries.get(entry.id, BundleSummary())]
    ]
    return {"found": found, "shown": shown}


def _oldest_first(ids: list[int]) -> tuple[TimelineEntry, ...]:
    return timeline.entries_of(ids)[::-1]


def _trial(trial: ShownTrial) -> dict[str, Any]:
    sent, answered = (json.dumps(value, ensure_ascii=False, indent=2) for value in (trial.request, trial.response))
    return asdict(trial) | {"sent": sent, "answered": answered}

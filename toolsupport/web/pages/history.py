"""Views of the history of models' facts, and of people's reactions to it."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date, timedelta, tzinfo
from typing import Any

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import Conflict
from toolsupport.core.history_sentences import counted
from toolsupport.registry.history import entry_bundles, inbox, read_marks, rows, timeline, timeline_query
from toolsupport.registry.history.inbox import WaitingEntry
from toolsupport.registry.history.timeline import TimelineEntry
from toolsupport.registry.history.timeline_query import TimelineCursor, TimelineFilter
from toolsupport.registry.knowledge import reviews
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.testing import detection_reports
from toolsupport.registry.testing.detection_reports import ShownTrial
from toolsupport.web import reader_zone, sentences
from toolsupport.web.pages import history_files
from toolsupport.web.pages.filter_forms import HistoryForm
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

MOST_WAITING = 100
MOST_COUNTED = 1000
PAGE = "toolsupport/history.html"
ONE = "toolsupport/history_entry.html"
# The views of the page: name, and the entries in it.
VIEWS = (
    ("All", TimelineFilter()),
    ("Tests", TimelineFilter(kind="detection")),
    ("Overrides", TimelineFilter(source="user_confirmed")),
    ("Server claims", TimelineFilter(source="declared")),
)


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: AuthedRequest) -> HttpResponse:
    """Show the changes to review; with a filter or `show` one page of the timeline, `after` a position."""
    everything = bool(set(request.GET) & {"show", "after", *HistoryForm.base_fields})
    context = (_timeline if everything else _inbox)(request) | _rights(request) | _views(request)
    if "form" not in context and not wants_part(request):
        context["form"] = HistoryForm()
    return render(request, PAGE + ("#entries" if wants_part(request) else ""), context)


@require_GET
@requires(Action.SEE_MODELS)
def news(request: AuthedRequest) -> HttpResponse:
    """Return how many entries are newer than those of the page, which does not change."""
    seen = request.GET.get("seen", "")
    count = timeline.newer_than(int(seen)) if seen.isascii() and seen.isdigit() and len(seen) < 19 else 0
    return render(request, PAGE + "#news", {"news": count, "newest": seen})


@require_POST
@requires(Action.REVIEW)
def agree(request: AuthedRequest) -> HttpResponse:
    """Agree with the changes that this person has seen, or undo that; then show the remaining ones."""
    sent = [int(one) for one in request.POST.getlist("entry")[:MOST_WAITING] if one.isascii() and one.isdigit()]
    back = request.POST.get("do") == reviews.REOPENED
    entries = [one for one in sent if one < 2**63]
    done = reviews.judge_all(reviews.REOPENED if back else reviews.AGREES, entries, request.user.pk)
    words = f"{counted(done, 'agreement')} undone." if back else f"Agreed with {counted(done, 'change')}."
    notice = {"notice": words, "agreed": [] if back else entries}
    return render(request, f"{PAGE}#entries", _inbox(request) | _rights(request) | _views(request) | notice)


@require_POST
@requires(Action.SEE_MODELS)
def read_all(request: AuthedRequest) -> HttpResponse:
    """Mark everything as read for the person who asks."""
    read_marks.mark_all(request.user.pk)
    return redirect(f"{reverse('history')}?show=all")


@require_GET
@requires(Action.SEE_MODELS)
def entry(request: AuthedRequest, entry_id: int) -> HttpResponse:
    """Show one entry with its evidence; the shown page then asks for `read_one`."""
    return _entry(request, entry_id, {})


@require_POST
@requires(Action.SEE_MODELS)
def read_one(request: AuthedRequest, entry_id: int) -> HttpResponse:
    """Mark one entry as read for the person who asks: an address that is only fetched changes nothing."""
    read_marks.mark_entry(request.user.pk, timeline.entry(entry_id).id)
    return HttpResponse(status=204)


@require_POST
@requires(Action.REVIEW)
def act(request: AuthedRequest, entry_id: int) -> HttpResponse:
    """Agree, disagree, revert, or undo one of these; the row stays in its place."""
    judgement = reviews.NewReview(entry_id, request.user.pk, request.POST.get("note", "").strip()[:2000])
    deed = request.POST.get("do", "")
    try:
        reviews.act(deed, judgement)
    except (Conflict, ValueError) as error:
        wrong = {"wrong": str(error), "current": getattr(error, "current", ""), "note": judgement.note}
        return _acted(request, entry_id, wrong | {"again": True})
    return _acted(request, entry_id, {"done": DONE[deed], "back": BACK.get(deed), "again": deed in BACK.values()})


@require_GET
@requires(Action.EXPORT_HISTORY)
def export(request: AuthedRequest, ending: str) -> StreamingHttpResponse:
    """Return everything that matches the filter, as a file."""
    if ending not in history_files.FILES:
        raise Http404("This kind of file does not exist.")
    kind, write = history_files.FILES[ending]
    pieces = history_files.streamed(write(filter_of(HistoryForm(request.GET), reader_zone.of(request))))
    headers = {"Content-Disposition": f'attachment; filename="history.{ending}"'}
    return StreamingHttpResponse(pieces, content_type=kind, headers=headers)


DONE = {
    "agree": "Agreed.",
    "disagree": "Disagreed. The value stays until a person changes it.",
    "revert": "Reverted. The previous value applies again.",
    "accept": "Agreed. It applies to everyone.",
    "reject": "Rejected. Nothing changes.",
    "undo": "Reverted. The previous values apply again.",
    "reopened": "Back to review.",
    "restore": "Restored.",
}
# A proposal is answered once: its value is withdrawn, and it does not wait again.
WITHDRAWN = {"done": "Undone. The previous value applies again.", "back": "restore"}
# A proposal has no value that could stay.
REFUSED = {DONE["disagree"]: "Disagreed. The proposal is rejected, and nothing changes."}
# Action → the one that undoes it.
BACK = {"agree": "reopened", "accept": "reopened", "revert": "restore"}


def filter_of(form: HistoryForm, zone: tzinfo) -> TimelineFilter:
    """Return the form's filter, with days of this zone; invalid fields match everything."""
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
        since=reader_zone.beginning(since, zone) if since else None,
        until=reader_zone.beginning(until + timedelta(days=1), zone) if until and until < date.max else None,
    )


def _rights(request: AuthedRequest) -> dict[str, bool]:
    allowed = request.actions
    return {
        "may_review": Action.REVIEW in allowed,
        "may_export": Action.EXPORT_HISTORY in allowed,
        "may_detect": Action.DETECT in allowed,
    }


def _entry(request: AuthedRequest, entry_id: int, notice: dict[str, Any]) -> HttpResponse:
    """Return the page of one entry, or its evidence. `alone`: the first entry of a bundle, without the others."""
    shown = timeline.entry(entry_id)
    notice = _worded(notice, shown.kind)
    row = rows.one_row(shown, alone=bool(request.GET.get("alone")))
    tested = None if row.words else shown.detection
    trials = [_trial(trial) for trial in detection_reports.trials(tested)] if tested else []
    context = {
        "row": row,
        "trials": trials,
        "members": _members(entry_id) if row.words else (),
        "findings": _oldest_first(entry_bundles.findings(entry_id)) if row.findings and not row.words else (),
        "open": True,
    }
    return render(request, ONE + ("#evidence" if wants_part(request) else ""), context | _rights(request) | notice)


def _acted(request: AuthedRequest, entry_id: int, result: dict[str, Any]) -> HttpResponse:
    """Return the row with the result; without htmx the page of the entry."""
    read_marks.mark_entry(request.user.pk, entry_id)
    if not wants_part(request):
        return _entry(request, entry_id, result)
    shown = timeline.entry(entry_id)
    result = _worded(result, shown.kind)
    if shown.kind == "proposal" and result.get("again") and "done" in result:
        result = WITHDRAWN if result["done"] == DONE["reopened"] else {"done": result["done"], "back": "reopened"}
    waits = WaitingEntry(entry_id) if result.get("again") else None
    row = rows.one_row(shown, waits, alone=bool(request.GET.get("alone")))
    review = {"review": bool(request.GET.get("review"))}
    answer = render(request, f"{ONE}#entry", {"row": row} | review | _rights(request) | result)
    if review["review"]:
        waiting = _inbox(request) | _rights(request) | {"counted": True}
        answer.write(render_to_string(f"{PAGE}#counts", waiting, request))
    return answer


def _worded(result: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the result of an action in the words for this kind of entry."""
    if kind != "proposal" or "done" not in result:
        return result
    return result | {"done": REFUSED.get(result["done"], result["done"])}


def _inbox(request: AuthedRequest) -> dict[str, Any]:
    """The changes to review."""
    found = {one.entry: one for one in inbox.waiting(MOST_WAITING)}
    entries = timeline.entries_of([*found])
    return {"review": True, "rows": rows.review_rows(entries, found), "waiting": [entry.id for entry in entries]}


def _timeline(request: AuthedRequest) -> dict[str, Any]:
    """One page of the timeline, with its filter."""
    form, after = HistoryForm(request.GET), TimelineCursor.read(request.GET.get("after", ""))
    wanted = filter_of(form, reader_zone.of(request))
    found = timeline.page(wanted, after)
    unread = read_marks.unread_among(request.user.pk, [entry.id for entry in found.entries])
    shown = rows.timeline_rows(found.entries, unread, wanted.open)
    return {"form": form, "query": form.query(), "first": after is None, "found": found, "rows": shown}


def _views(request: AuthedRequest) -> dict[str, Any]:
    """The views with their counts."""
    counts = timeline_query.counts([wanted for _, wanted in VIEWS], MOST_COUNTED)
    chips = []
    for (title, wanted), count in zip(VIEWS, counts, strict=True):
        query = urlencode(wanted.facet()) or "show=all"
        chips.append({"title": title, "query": query, "count": count, "here": request.GET.urlencode() == query})
    return {"views": chips, "most_counted": MOST_COUNTED, "newest": timeline.newest_entry()}


def _members(entry_id: int) -> list[rows.HistoryRow]:
    return [rows.HistoryRow(one) for one in _oldest_first(entry_bundles.members(entry_id))]


def _oldest_first(ids: list[int]) -> tuple[TimelineEntry, ...]:
    return timeline.entries_of(ids)[::-1]


def _trial(trial: ShownTrial) -> dict[str, Any]:
    sent, answered = (json.dumps(value, ensure_ascii=False, indent=2) for value in (trial.request, trial.response))
    return asdict(trial) | {"title": sentences.step(trial.step), "sent": sent, "answered": answered}

"""Views of the tests of models: start, watch, skip, cancel, read."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import Busy, ConfigError, Conflict
from toolsupport.core.row_ids import row_number
from toolsupport.detection import DETECTORS, KINDS
from toolsupport.registry.knowledge import reviews
from toolsupport.registry.models import profiles
from toolsupport.registry.models.profiles import ModelRow
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.testing import detection_reports, detections
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.web import sentences
from toolsupport.web.pages import model_filters
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE, MATRIX = "toolsupport/detection.html", "toolsupport/models.html"
LATELY = 5  # seconds after which a page that polls every second has seen a result


@require_POST
@requires(Action.DETECT)
def start(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Start a test, or join the open one."""
    wanted = request.POST.get("kind", "tools")
    kind = wanted if wanted in KINDS else "tools"
    try:
        open_tests(request, [DetectionRequest(profile_id, "page", kind, request.user.pk)])
    except (Busy, ConfigError) as error:
        messages.error(request, str(error))
    return redirect("model", profile_id)


@require_GET
@requires(Action.SEE_MODELS)
def shown(request: AuthedRequest, detection_id: int) -> HttpResponse:
    """Show one test: its progress, or its verdict with the evidence of every trial."""
    return _shown(request, detection_id)


@require_POST
@requires(Action.DETECT)
def skip(request: AuthedRequest, detection_id: int) -> HttpResponse:
    """Skip a step."""
    step = request.POST.get("step", "")
    if step in DETECTORS:
        detections.skip(detection_id, step)
    return _shown(request, detection_id)


@require_POST
@requires(Action.DETECT)
def cancel(request: AuthedRequest, detection_id: int) -> HttpResponse:
    """Cancel a test, without a verdict."""
    detections.cancel(detection_id)
    return _shown(request, detection_id)


@require_POST
@requires(Action.DECIDE_FOR_ALL)
def undo(request: AuthedRequest, detection_id: int) -> HttpResponse:
    """Withdraw the measurements of a test; a running test stays, and is shown as running."""
    with suppress(Conflict):
        detections.undo(detection_id, request.user.pk)
    return _shown(request, detection_id)


@require_POST
@requires(Action.DETECT)
def start_all(request: AuthedRequest) -> HttpResponse:
    """Test the given `model`, or all that match the filter, in the order of the table; `only` untested ones."""
    wanted = [DetectionRequest(row.id, "bulk", actor=request.user.pk) for row in _meant(request)]
    try:
        opened = open_tests(request, wanted)
    except (Busy, ConfigError) as error:
        return _bulk(request, 0, str(error))
    fresh = [test.id for test in opened if test.fresh]
    since = detection_reports.began(request.user.pk, min(fresh, default=0))
    return _bulk(request, since, "" if fresh else "Nothing to test: all of these are being tested.")


@require_GET
@requires(Action.SEE_MODELS)
def bulk(request: AuthedRequest) -> HttpResponse:
    """Show the progress of a bulk of tests; while no test begins or ends, only that of the running ones.

    Without `since` the page shows no bulk, and gets nothing until a test begins or ends.
    """
    since, seen = row_number(request.GET.get("since", "")), request.GET.get("seen")
    if seen and wants_part(request):
        if since and detection_reports.stage(since) == seen:
            return _under_test(request, since)
        if not since and detection_reports.overall_stage() == seen:
            return HttpResponse(status=204)
    return _bulk(request, since, "")


@require_POST
@requires(Action.DETECT)
def cancel_all(request: AuthedRequest) -> HttpResponse:
    """Cancel the rest of the person's own bulk."""
    detections.cancel_bulk(request.user.pk)
    return _bulk(request, 0, "Cancelled.")


def open_tests(request: AuthedRequest, wanted: list[DetectionRequest]) -> list[detections.OpenedDetection]:
    """Queue tests in the name of the person. Raises NotFound, Busy, ConfigError."""
    return detections.open_tests(wanted, limited=Action.DECIDE_FOR_ALL not in request.actions)


def _shown(request: AuthedRequest, detection_id: int) -> HttpResponse:
    test = detection_reports.shown(detection_id)
    allowed = request.actions
    found = {"test": test, "may_detect": Action.DETECT in allowed, "may_undo": Action.DECIDE_FOR_ALL in allowed}
    if wants_part(request) and "trials" not in request.GET:
        return _live(request, found)
    # A step runs in rounds, with others in between: its trials are shown together, at its first place.
    steps: dict[str, list[Any]] = {}
    for trial in detection_reports.trials(detection_id):
        title = sentences.step(trial.step)
        steps.setdefault(title, []).append(trial)
    part = "#trials" if wants_part(request) else ""
    return render(request, f"{PAGE}{part}", found | {"trials": steps.items()})


def _live(request: AuthedRequest, found: dict[str, Any]) -> HttpResponse:
    """Return the current state of a test; with `later` in the address its verdict is shown and one step is left."""
    later = request.GET.get("later", "")
    answer = render(request, f"{PAGE}#{'later' if later == 'line' else 'live'}", found)
    test = found["test"]
    if not test.open and not (later and test.later):
        # The parts of the page with its results reload themselves.
        answer.headers["HX-Trigger"] = "tested"
    return answer


def live(request: AuthedRequest, rows: Sequence[ModelRow], needing: Collection[int], since: int = 0) -> dict[str, Any]:
    """Return the parts that change while tests run: the bar of states and a run of tests, the person's own first."""
    found = detection_reports.bulk(request.user.pk, since) if since or _at_work(rows) else None
    followed = found if found and (found.open or found.later) else None
    counts = model_filters.states(rows)
    return {
        "bulk": found,
        "followed": followed,
        "seen": followed.seen if followed else detection_reports.overall_stage(),
        "at": int(time.time()),
        "states": counts,
        "chips": model_filters.chips(rows, counts, _filter(request), needing),
        "all": len(rows),
        "estimate": _estimate(rows),
    }


def _at_work(rows: Sequence[ModelRow]) -> bool:
    return any(row.evidence.state in ("testing", "queued") for row in rows)


def _estimate(rows: Sequence[ModelRow]) -> int:
    took = [row.evidence.took_ms for row in rows if row.evidence.took_ms]
    return detection_reports.expected_bulk(sum(row.untested for row in rows), took)


def _meant(request: AuthedRequest) -> list[ModelRow]:
    one = request.POST.get("model", "")
    rows = profiles.listed([row_number(one)]) if one else profiles.listed()
    meant = rows if one else model_filters.sifted(rows, request.POST, reviews.needing())
    return [row for row in meant if (row.untested if request.POST.get("only") else row.testable)]


def _filter(request: AuthedRequest) -> Mapping[str, str]:
    """Return the search and the filters of the page: a form sends them with its button."""
    return request.POST if request.method == "POST" else request.GET


def _bulk(request: AuthedRequest, since: int, message: str) -> HttpResponse:
    if not wants_part(request):
        return redirect("models")
    needing = reviews.needing()
    all_rows = profiles.listed()
    rows = model_filters.named(all_rows, _filter(request))
    found = live(request, rows, needing, since) | {"notice": message, "oob": True}
    found["may_detect"] = Action.DETECT in request.actions
    changed = detection_reports.changed(found["bulk"].since if found["bulk"] else 0, _moment(request))
    changed = _on_page(request, changed)
    found |= {"rows": [row for row in all_rows if row.id in changed], "needing": needing}
    shown = model_filters.sifted(all_rows, _filter(request), needing)
    found |= {"untested": sum(row.untested for row in shown), "testable": sum(row.testable for row in shown)}
    return render(request, f"{MATRIX}#bulk", found)


def _on_page(request: AuthedRequest, models: Collection[int]) -> set[int]:
    """Return the models that the page lists: it has no place for others. A page with a very long list sends none."""
    listed = _filter(request).get("rows")
    return set(models) if listed is None else set(models) & set(map(row_number, listed.split(",")))


def _moment(request: AuthedRequest) -> datetime:
    """Return when the page received the rows that it shows; by default a moment ago."""
    now, at = int(time.time()), row_number(request.GET.get("at", ""))
    return datetime.fromtimestamp(min(at or now - LATELY, now), UTC)


def _under_test(request: AuthedRequest, since: int) -> HttpResponse:
    """Return the rows of the models under test alone: nothing else has changed."""
    running = detection_reports.running(since)
    rows = profiles.listed([*_on_page(request, running)])
    answer = render(
        request, f"{MATRIX}#under_test", {"rows": rows, "needing": (), "may_detect": Action.DETECT in request.actions}
    )
    answer.headers["HX-Reswap"] = "none"
    return answer

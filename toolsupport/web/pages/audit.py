"""Page of the audit for administrators: security events and audited actions."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from toolsupport.core.row_ids import row_number
from toolsupport.registry.people import audit_log, security_events
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages import history_files
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_GET
@requires(Action.ADMINISTER)
def export(request: AuthedRequest) -> StreamingHttpResponse:
    """Return all audited actions as JSON lines."""
    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    pieces = history_files.streamed(audit_log.lines())
    return StreamingHttpResponse(pieces, content_type="application/x-ndjson", headers=headers)


@require_GET
@requires(Action.ADMINISTER)
def shown(request: AuthedRequest) -> HttpResponse:
    """Show a page of each list, the newest first; `events` and `actions` are where they begin."""
    events = security_events.newest(row_number(request.GET.get("events", "")))
    actions = audit_log.newest(row_number(request.GET.get("actions", "")))
    context = {
        "events": events,
        "more_events": events[-1].id if len(events) == security_events.PAGE else None,
        "actions": actions,
        "more_actions": actions[-1].id if len(actions) == audit_log.MOST else None,
    }
    return render(request, "toolsupport/audit.html", context)

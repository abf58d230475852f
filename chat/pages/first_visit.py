"""Views of the first visit: claim and proof of every model, live, and tasks to try."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from channels.db import database_sync_to_async as in_database
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from chat.transcript.conversations import first_tasks
from chat.transcript.turns.sent_message import SentMessage
from chat.turns import runner
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.registry.models import picker
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.servers import servers
from toolsupport.registry.testing import evidence_overview
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.web.pages.detections import open_tests
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "chat/start.html"
# The states of evidence with their words, for the legend.
STATES = (("proven", "Proven"), ("text", "Text mode"), ("claimed", "Claimed"), ("off", "Off"), ("broken", "Broken"))


@require_GET
@requires(Action.SEE_MODELS)
def shown(request: AuthedRequest) -> HttpResponse:
    """Show claims and proofs of the models; 204 to a page that already shows them."""
    context = _context(request)
    if not wants_part(request):
        return render(request, PAGE, context)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    return render(request, f"{PAGE}#live", context)


@require_POST
@requires(Action.DETECT)
def test(request: AuthedRequest) -> HttpResponse:
    """Test the quickest models if none is tested yet, else every model without a verdict."""
    found = evidence_overview.read(request.user.pk)
    message = ""
    try:
        open_tests(request, [DetectionRequest(profile, "bulk", actor=request.user.pk) for profile in found.first])
    except (Busy, ConfigError) as error:
        message = str(error)
    if not wants_part(request):
        return redirect("start")
    return render(request, f"{PAGE}#live", _context(request) | {"notice": message, "began": True})


@require_POST
@requires(Action.CHAT)
async def ask(request: AuthedRequest) -> HttpResponse:
    """Ask the question of a task in a chat that is prepared for it, and show that chat."""
    may_administer = Action.ADMINISTER in request.actions
    try:
        task = await in_database(first_tasks.prepare)(request.user, request.POST.get("task", ""), may_administer)
    except NotFound:  # the data has changed since the page was shown: the message names the missing part
        return redirect("start")
    runner.current().announce(task.conversation, task.announced)
    try:
        await runner.current().begin(request.user.pk, task.conversation, SentMessage(uuid.uuid4().hex, task.question))
    except Busy as error:
        return await in_database(_noticed)(request, str(error))
    return redirect("conversation", task.conversation)


def _noticed(request: AuthedRequest, message: str) -> HttpResponse:
    return render(request, PAGE, _context(request) | {"notice": message}, status=429)


def _context(request: AuthedRequest) -> dict[str, Any]:
    found = evidence_overview.read(request.user.pk)
    allowed = request.actions
    administers = Action.ADMINISTER in allowed
    tasks = first_tasks.available(request.user, found, administers) if Action.CHAT in allowed else []
    return {
        "found": found,
        "states": STATES,
        # The page polls every second while tests run, and gets content only if something has changed.
        "seen": hashlib.sha256(repr((found.tiles, found.seconds_left)).encode()).hexdigest()[:16],
        "untested": len(found.untested),
        "first": len(found.first),
        "first_seconds": found.first_seconds,
        "left_out": found.left_out,
        "may_detect": Action.DETECT in allowed,
        "may_chat": Action.CHAT in allowed,
        "may_administer": administers,
        "tasks": tasks,
        "main_task": next((task for task in tasks if task.name == "folder"), None),
        "recommended": picker.RECOMMENDED[0],
        "hidden": picker.hidden_note(),
        "down": servers.down(),
        "back": reverse("start"),
    }

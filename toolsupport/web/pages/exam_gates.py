"""The required exam on the page of a model: its context, and the view that stores a change."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.exams.builtin import SUITES
from toolsupport.registry.exams import exam_gate, gate_settings, team_exams
from toolsupport.registry.exams.gate_settings import GateChange
from toolsupport.registry.models import profiles
from toolsupport.registry.models.profiles import ModelPage
from toolsupport.registry.people.permissions import Action
from toolsupport.services import background_jobs
from toolsupport.web.view_permissions import AuthedRequest, requires

LENGTH = 500
NO_REASON = "Write a reason."


def shown(page: ModelPage) -> dict[str, Any]:
    """Return the state of the model's gate, for its page."""
    return {"gate": exam_gate.gate(page.profile)}


@require_http_methods(["GET", "POST"])
@requires(Action.DECIDE_FOR_ALL)
def change(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Show the form, or store with a reason that each build must pass an exam, or that the current one need not."""
    if request.method == "GET":
        return _form(request, profile_id)
    profiles.row(profile_id)
    reason = request.POST.get("reason", "").strip()[:LENGTH]
    wanted = GateChange(profile_id, request.user.pk, reason, request.POST.get("required_exam", ""))
    try:
        _store(wanted, waive=bool(request.POST.get("use_anyway")))
        messages.success(request, "Saved.")
    except (ConfigError, NotFound) as error:
        messages.error(request, str(error))
    return redirect("model", profile_id)


def _form(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Return the form, which the page fetches once a person opens it."""
    suite = exam_gate.gate(profiles.row(profile_id)).suite
    choices = [*SUITES, *team_exams.names()]
    return render(
        request, "toolsupport/gate_form.html", {"profile": profile_id, "suite": suite, "gate_choices": choices}
    )


def _store(wanted: GateChange, *, waive: bool) -> None:
    if not wanted.reason:
        raise ConfigError(NO_REASON)
    if waive:
        gate_settings.waive(wanted)
    else:
        gate_settings.require(wanted)
        background_jobs.current().examiner.look()

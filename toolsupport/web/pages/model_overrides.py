"""Views in which people override one capability of a model, and undo that."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from toolsupport.core.errors import Conflict, NotAllowed
from toolsupport.core.resolve import CAPABILITIES
from toolsupport.core.row_ids import row_number
from toolsupport.core.sentences import sentence
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import capability_details, profiles
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.capability_form import CapabilityForm, choices
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "toolsupport/override.html"
UNDONE = sentence("override_undone")


@require_http_methods(["GET", "POST"])
@requires(Action.DECIDE_FOR_CHAT)
def capability(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Show the form for one capability, or override it for everyone; without the permission it is proposed."""
    if request.method == "POST":
        return _decided(request, profile_id, request.POST)
    return _form(request, profile_id, request.GET.get("capability", ""), {})


@require_POST
@requires(Action.DECIDE_FOR_ALL)
def override(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Override native tools for everyone, or follow the evidence again."""
    sent = request.POST.copy()
    sent["capability"], sent["value"] = "tools", request.POST.get("decision", "")
    return _decided(request, profile_id, sent)


@require_POST
@requires(Action.DECIDE_FOR_ALL)
def undo(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Undo one change of a capability, unless a later one followed."""
    newest, rows = (row_number(request.POST.get(name, "")) for name in ("newest", "rows"))
    capability = request.POST.get("capability", "")
    taken_back = NewOverride(profile_id, capability, actor=request.user.pk, reason=UNDONE, newest=newest)
    try:
        overrides.undo(taken_back, rows)
        messages.success(request, "Undone.")
    except Conflict as conflict:
        messages.error(request, str(conflict))
    return redirect("model", profile_id)


def _decided(request: AuthedRequest, profile_id: int, sent: QueryDict) -> HttpResponse:
    form, capability = CapabilityForm(sent), sent.get("capability", "")
    if not form.is_valid():
        return _form(request, profile_id, capability, {"wrong": form.wrong(), "sent": sent})
    decision = _decision(form, profile_id, request)
    try:
        newest, rows = capability_details.decide(decision)
    except Conflict as conflict:
        return _form(request, profile_id, capability, {"clash": conflict, "sent": sent})
    # The fields of the button Undo; a proposal has none, it is answered instead.
    undo = f"undo {profile_id} {decision.capability} {newest} {rows}" if rows and not decision.proposed else ""
    messages.success(request, _words(decision), extra_tags=undo)
    return redirect("model", profile_id)


def _decision(form: CapabilityForm, profile_id: int, request: AuthedRequest) -> NewOverride:
    """Return the decision in the form. Raises NotAllowed."""
    given = form.cleaned_data
    proposed = Action.DECIDE_FOR_ALL not in request.actions
    if proposed and form.meant is None:
        raise NotAllowed("Only a reviewer or an administrator can remove overrides.")
    return NewOverride(
        profile=profile_id,
        capability=given["capability"],
        value=form.meant,
        actor=request.user.pk,
        reason=given["reason"],
        newest=given["newest"],
        proposed=proposed,
        expires_at=given["expires"],
    )


def _words(decision: NewOverride) -> str:
    title = profiles.title(decision.capability)
    if decision.proposed:
        return "Proposed. A reviewer decides."
    if decision.value is None:
        return f"Saved. {title} follows the evidence."
    return f"Saved. {title}: {profiles.state_and_words(decision.capability, decision.value)[1]}, for everyone."


def _written(value: Any) -> str:
    """Return a value in the notation of the form."""
    if value is None:
        return ""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _form(request: AuthedRequest, profile_id: int, capability: str, notice: dict[str, Any]) -> HttpResponse:
    name = capability if capability in CAPABILITIES else "tools"
    page = profiles.shown(profile_id)
    known = capability_details.decidable(page.profile, page.claims).get(name)
    context = {
        "page": page,
        "cell": next(cell for cell in page.cells if cell.capability == name),
        "known": known,
        "sent": {"value": _written(known.value) if known else ""},
        "choices": choices(name),
        "may_decide": Action.DECIDE_FOR_ALL in request.actions,
        **notice,
    }
    answer = render(request, PAGE + ("#form" if wants_part(request) else ""), context)
    if request.method == "POST":
        # The form stays open, with the error.
        answer.headers["HX-Retarget"], answer.headers["HX-Reswap"] = "#override", "innerHTML"
    return answer

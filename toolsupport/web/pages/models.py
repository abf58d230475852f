"""Views of the models: the matrix of all, one model with its editor."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import Conflict, NotAllowed
from toolsupport.core.resolve import CAPABILITIES
from toolsupport.registry.knowledge import overrides, reviews
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import capability_details, capability_evidence, profiles
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.settings import model_settings
from toolsupport.web.pages import detections, model_context, model_filters
from toolsupport.web.pages.capability_form import CapabilityForm
from toolsupport.web.pages.forms import DecisionForm, OptionsForm
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_GET
@requires(Action.SEE_MODELS)
def matrix(request: AuthedRequest) -> HttpResponse:
    """List every model with its facts; `q` filters by name or server, the other filters by facts."""
    return render(request, "toolsupport/models.html" + ("#rows" if wants_part(request) else ""), _matrix(request))


def _matrix(request: AuthedRequest) -> dict[str, Any]:
    all_rows, needing, allowed = profiles.listed(), reviews.needing(), request.actions
    rows = model_filters.sifted(all_rows, request.GET, needing)
    return {
        "rows": rows,
        "filters": model_filters.choices(all_rows, request.GET),
        "filtered": any(request.GET.values()),
        "needing": needing,
        "chosen": model_filters.chosen(request.GET),
        "state": request.GET.get(model_filters.STATE, ""),
        "sort": request.GET.get("sort", ""),
        "by": model_filters.orders(request.GET.get("sort", "")),
        "columns": profiles.COLUMNS,
        "files": len(profiles.FILES),
        "q": request.GET.get("q", ""),
        "may_administer": Action.ADMINISTER in allowed,
        "may_detect": Action.DETECT in allowed,
        "may_decide": Action.DECIDE_FOR_ALL in allowed,
        "query": request.GET.urlencode(),
        "testable": sum(row.testable for row in rows),
        # The bar and its chips come along with the rows: they carry the new search and filters.
        "renewed": wants_part(request),
        **detections.live(request, model_filters.named(all_rows, request.GET), needing),
        "untested": sum(row.untested for row in rows),
    }


@require_GET
@requires(Action.SEE_MODELS)
def model(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Show one model: each capability with value, source, since and reason."""
    return _answer(request, profile_id, {})


@require_GET
@requires(Action.SEE_MODELS)
def evidence(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Show the evidence of one capability: sources, trials, and what was sent and received."""
    wanted = request.GET.get("capability", "tools")
    found = capability_evidence.of(profile_id, wanted if wanted in CAPABILITIES else "tools")
    may_detect = Action.DETECT in request.actions
    return render(request, "toolsupport/evidence_panel.html", {"found": found, "may_detect": may_detect})


@require_POST
@requires(Action.DECIDE_FOR_ALL)
def override(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Decide for everyone whether a model has native tools, or follow the evidence again."""
    form = DecisionForm(request.POST)
    notice: dict[str, Any] = {"part": "editor"}
    if not form.is_valid():
        return _answer(request, profile_id, notice | {"decision_form": form})
    try:
        _decide(form, profile_id, request.user.pk)
    except Conflict as conflict:
        wanted = dict(form.fields["decision"].choices)[form.cleaned_data["decision"]]  # type: ignore[attr-defined]
        return _answer(request, profile_id, notice | {"conflict": conflict, "wanted": wanted})
    return _answer(request, profile_id, notice | {"saved": "editor"})


@require_POST
@requires(Action.DECIDE_FOR_CHAT)
def capability(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Decide one capability for everyone, or propose it without the permission to decide."""
    form = CapabilityForm(request.POST)
    notice: dict[str, Any] = {"part": "editor", "edited": request.POST.get("capability", "")}
    if not form.is_valid():
        return _answer(request, profile_id, notice | {"wrong": form.wrong()})
    try:
        proposed = _decide_capability(form, profile_id, request)
    except Conflict as conflict:
        return _answer(request, profile_id, notice | {"clash": conflict, "wanted": form.cleaned_data["value"]})
    return _answer(request, profile_id, notice | {"done": "Proposed: a reviewer decides." if proposed else "Saved"})


@require_POST
@requires(Action.ADMINISTER)
def options(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Store the request settings of a model."""
    form = OptionsForm(request.POST)
    notice: dict[str, Any] = {"part": "options"}
    if not form.is_valid():
        return _answer(request, profile_id, notice | {"options_form": form})
    model_settings.save(profile_id, form.options())
    return _answer(request, profile_id, notice | {"saved": "options"})


def _decide(form: DecisionForm, profile_id: int, actor: int | None) -> None:
    decision = NewOverride(
        profile=profile_id,
        capability="tools",
        value=form.value,
        actor=actor,
        reason=form.cleaned_data["reason"],
        newest=form.cleaned_data["newest"],
    )
    if form.value is None:
        overrides.follow_evidence(decision)
    else:
        overrides.add(decision)


def _decide_capability(form: CapabilityForm, profile_id: int, request: AuthedRequest) -> bool:
    """Return whether it was only proposed. Raises Conflict, NotFound, NotAllowed."""
    given = form.cleaned_data
    proposed = Action.DECIDE_FOR_ALL not in request.actions
    if proposed and form.meant is None:
        raise NotAllowed("Only a reviewer or an administrator can withdraw decisions.")
    decision = NewOverride(
        profile=profile_id,
        capability=given["capability"],
        value=form.meant,
        actor=request.user.pk,
        reason=given["reason"],
        newest=given["newest"],
        proposed=proposed,
    )
    capability_details.decide(decision)
    return proposed


def _answer(request: AuthedRequest, profile_id: int, notice: dict[str, Any]) -> HttpResponse:
    """Return the whole page, or the part that contains the form."""
    page = profiles.shown(profile_id)
    allowed = request.actions
    part = f"#{notice['part']}" if notice.get("part") and wants_part(request) else ""
    context = {
        "page": page,
        **model_context.known(request, page),
        "may_administer": Action.ADMINISTER in allowed,
        "decision_form": DecisionForm.of(page.editor),
        "options_form": OptionsForm.of(page),
        # What else a saved part changes comes along with it, out of band.
        "oob": bool(part),
        **detections.context(request, page),
        **notice,
    }
    return render(request, f"toolsupport/model.html{part}", context)

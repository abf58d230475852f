"""The pages of the models: the matrix of all, one model with its editor."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from toolsupport.access import Action, actions, requires
from toolsupport.core.errors import Conflict
from toolsupport.pages import detections
from toolsupport.pages.forms import DecisionForm, OptionsForm
from toolsupport.pages.htmx import wants_part
from toolsupport.registry import detection_reports, model_options, overrides, profiles
from toolsupport.registry.overrides import Decision


@require_GET
@requires(Action.SEE_MODELS)
def matrix(request: HttpRequest) -> HttpResponse:
    """Every model with what is known of it; `q` filters by name or server."""
    wanted = request.GET.get("q", "")
    allowed, rows = actions(request.user), profiles.listed(wanted)
    context = {
        "rows": rows,
        "columns": profiles.COLUMNS,
        "q": wanted,
        "bulk": detection_reports.bulk(request.user.pk),
        "may_administer": Action.ADMINISTER in allowed,
        "may_detect": Action.DETECT in allowed,
        "to_test": sum(row.enabled and not row.gone for row in rows),
    }
    return render(request, "toolsupport/models.html" + ("#rows" if wants_part(request) else ""), context)


@require_GET
@requires(Action.SEE_MODELS)
def model(request: HttpRequest, profile_id: int) -> HttpResponse:
    """One model: each capability with value, source, since and reason."""
    return _answer(request, profile_id, {})


@require_POST
@requires(Action.DECIDE_FOR_ALL)
def override(request: HttpRequest, profile_id: int) -> HttpResponse:
    """Decide for everyone whether a model has native tools, or follow the evidence again."""
    form = DecisionForm(request.POST)
    said: dict[str, Any] = {"part": "editor"}
    if not form.is_valid():
        return _answer(request, profile_id, said | {"decision_form": form})
    try:
        _decide(form, profile_id, request.user.pk)
    except Conflict as conflict:
        wanted = dict(form.fields["decision"].choices)[form.cleaned_data["decision"]]  # type: ignore[attr-defined]
        return _answer(request, profile_id, said | {"conflict": conflict, "wanted": wanted})
    return _answer(request, profile_id, said | {"saved": "editor"})


@require_POST
@requires(Action.ADMINISTER)
def options(request: HttpRequest, profile_id: int) -> HttpResponse:
    """Set how a model is asked."""
    form = OptionsForm(request.POST)
    said: dict[str, Any] = {"part": "options"}
    if not form.is_valid():
        return _answer(request, profile_id, said | {"options_form": form})
    model_options.save(profile_id, form.options())
    return _answer(request, profile_id, said | {"saved": "options"})


def _decide(form: DecisionForm, profile_id: int, actor: int | None) -> None:
    decision = Decision(
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


def _answer(request: HttpRequest, profile_id: int, said: dict[str, Any]) -> HttpResponse:
    """The whole page, or the part a form of it belongs to."""
    page = profiles.shown(profile_id)
    allowed = actions(request.user)
    part = f"#{said['part']}" if said.get("part") and wants_part(request) else ""
    context = {
        "page": page,
        "may_decide": Action.DECIDE_FOR_ALL in allowed,
        "may_administer": Action.ADMINISTER in allowed,
        "decision_form": DecisionForm.of(page.editor),
        "options_form": OptionsForm.of(page),
        # What else a saved part changes comes along with it, out of band.
        "oob": bool(part),
        **detections.context(request, profile_id),
        **said,
    }
    return render(request, f"toolsupport/model.html{part}", context)

"""Views of the models: the matrix of all, one model with its evidence and its settings."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from toolsupport.core.resolve import CAPABILITIES
from toolsupport.registry.exams import exam_next_steps as next_steps
from toolsupport.registry.exams import exam_plot
from toolsupport.registry.knowledge import reviews
from toolsupport.registry.models import capability_evidence, profiles
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.servers import servers
from toolsupport.registry.settings import model_settings
from toolsupport.registry.settings.model_settings import ModelOptions
from toolsupport.web.pages import detections, exam_gates, exam_next_steps, fallbacks, model_filters, model_page_context
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.pages.model_options_form import OptionsForm
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_GET
@requires(Action.SEE_MODELS)
def matrix(request: AuthedRequest) -> HttpResponse:
    """List every model with its facts; `q` filters by name or server, the other filters by facts."""
    return render(request, "toolsupport/models.html" + ("#rows" if wants_part(request) else ""), _matrix(request))


def _matrix(request: AuthedRequest) -> dict[str, Any]:
    all_rows, needing, allowed = profiles.listed(), reviews.needing(), request.actions
    rows = model_filters.sifted(all_rows, request.GET, needing)
    filters = model_filters.choices(all_rows, request.GET)
    return {
        "rows": rows,
        "filters": filters,
        "in_use": [one for one in filters if one.chosen],
        "filtered": any(request.GET.values()),
        "needing": needing,
        "chosen": model_filters.chosen(request.GET),
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
        # The bar and its chips are sent with the rows: they contain the new search and filters.
        "renewed": wants_part(request),
        **detections.live(request, model_filters.named(all_rows, request.GET), needing),
        "untested": sum(row.untested for row in rows),
        "down": () if wants_part(request) else servers.down(),
    }


@require_GET
@requires(Action.SEE_MODELS)
def model(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Show one model: its state, each capability with its sources, and the evidence in the order of time."""
    part = wants_part(request)
    page = profiles.shown(profile_id)
    context = model_page_context.capabilities(page, request) | fallbacks.shown(page, request)
    context |= exam_gates.shown(page) | {"part": part, "down": servers.down_one(page.profile.server)}
    runs = exam_plot.ended(page.profile)
    context["plot"] = exam_plot.of_runs(runs)
    context |= exam_next_steps.shown(next_steps.of_newest(runs, page.build), request)
    return render(request, "toolsupport/model.html" + ("#face" if part else ""), context)


@require_GET
@requires(Action.SEE_MODELS)
def evidence(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Show the evidence of one capability: sources, trials, requests and replies."""
    wanted, here = request.GET.get("capability", "tools"), bool(request.GET.get("here"))
    found = capability_evidence.of(profile_id, wanted if wanted in CAPABILITIES else "tools")
    page = "evidence_panel.html" if wants_part(request) else "evidence.html"
    # The page of the model has its own buttons for these.
    context = {"found": found, "here": here, "may_detect": Action.DETECT in request.actions and not here}
    context |= {"may_decide": Action.DECIDE_FOR_ALL in request.actions}
    return render(request, f"toolsupport/{page}", context | {"may_propose": Action.DECIDE_FOR_CHAT in request.actions})


@require_http_methods(["GET", "POST"])
@requires(Action.ADMINISTER)
def options(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Show the request settings of a model, or store them."""
    page = profiles.shown(profile_id)
    form = OptionsForm(request.POST, initial=OptionsForm.of(page).initial) if request.POST else OptionsForm.of(page)
    if "reset" in request.POST:
        model_settings.save(profile_id, ModelOptions(page.options.num_ctx))
    elif form.is_valid():
        model_settings.save(profile_id, form.options())
    else:
        context = model_page_context.head(page, request) | {"form": form}
        return render(request, "toolsupport/model_settings.html", context)
    messages.success(request, "Saved.")
    return redirect("model-options", profile_id)

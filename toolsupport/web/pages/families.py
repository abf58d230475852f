"""Views of the team's own families: listed, added, edited and deleted, each with a preview of the models."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from toolsupport.registry.knowledge import team_families
from toolsupport.registry.knowledge.team_families import TeamFamily
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.family_form import TeamFamilyForm
from toolsupport.web.view_permissions import AuthedRequest, requires

FORM = "toolsupport/family.html"


@require_GET
@requires(Action.ADMINISTER)
def listed(request: AuthedRequest) -> HttpResponse:
    """List the families of the team with the number of their models."""
    return render(request, "toolsupport/families.html", {"families": team_families.listed()})


@require_http_methods(["GET", "POST"])
@requires(Action.ADMINISTER)
def add(request: AuthedRequest) -> HttpResponse:
    """Add a family."""
    return _written(request, team_families.blank())


@require_http_methods(["GET", "POST"])
@requires(Action.ADMINISTER)
def edit(request: AuthedRequest, family_id: int) -> HttpResponse:
    """Change a family."""
    return _written(request, team_families.get(family_id))


@require_http_methods(["GET", "POST"])
@requires(Action.ADMINISTER)
def remove(request: AuthedRequest, family_id: int) -> HttpResponse:
    """Show which models lose a family, then delete it."""
    row = team_families.get(family_id)
    if request.method == "POST":
        team_families.remove(family_id)
        return redirect("families")
    return render(request, FORM, {"row": row, "moves": team_families.preview(row, removed=True), "removing": True})


def _written(request: AuthedRequest, row: TeamFamily) -> HttpResponse:
    """Show the form, show the preview of a sent one, or save it."""
    form = TeamFamilyForm(row, request.POST) if request.method == "POST" else TeamFamilyForm(row)
    context: dict[str, object] = {"row": row, "form": form}
    if request.method == "POST" and form.is_valid():
        family = form.family()
        if request.POST.get("do") == "save":
            team_families.save(family)
            return redirect("families")
        context["moves"] = team_families.preview(family)
    return render(request, FORM, context)

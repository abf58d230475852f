"""Views of people for administrators: list, roles, invitations, activation."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import ConfigError, NotAllowed
from toolsupport.registry.factors import requirement
from toolsupport.registry.people import accounts
from toolsupport.registry.people.permissions import ROLES, Action
from toolsupport.web.pages.form_page import board
from toolsupport.web.pages.people_forms import InvitationForm
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_GET
@requires(Action.ADMINISTER)
def listed(request: AuthedRequest) -> HttpResponse:
    """List everybody, with role and state."""
    return answer(request, {})


@require_POST
@never_cache
@requires(Action.ADMINISTER)
def invite(request: AuthedRequest) -> HttpResponse:
    """Create a person and show the link to pass on, in this response and never again."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return answer(request, {"form": form})
    try:
        link = accounts.invite(form.cleaned_data["name"], form.cleaned_data["role"])
    except ConfigError as error:
        form.add_error("name", str(error))
        return answer(request, {"form": form})
    return answer(request, _handed_over(request, link))


@require_POST
@never_cache
@requires(Action.ADMINISTER)
def new_link(request: AuthedRequest, person_id: int) -> HttpResponse:
    """Create a new link for a person who lost the password or the first link."""
    return answer(request, _handed_over(request, accounts.new_link(request.user.pk, person_id)))


@require_POST
@requires(Action.ADMINISTER)
def role(request: AuthedRequest, person_id: int) -> HttpResponse:
    """Change a person's role, with immediate effect."""
    try:
        accounts.set_role(request.user.pk, person_id, request.POST.get("role", ""))
    except ConfigError as error:
        return answer(request, {"failed": str(error)})
    return answer(request, {"notice": "Saved. It applies from now on."})


@require_POST
@requires(Action.ADMINISTER)
def switch(request: AuthedRequest, person_id: int) -> HttpResponse:
    """Activate or deactivate a person."""
    active = request.POST.get("active") == "1"
    accounts.set_active(request.user.pk, person_id, active)
    return answer(request, {"notice": "They may sign in again." if active else "Signed out and deactivated."})


@require_POST
@requires(Action.ADMINISTER)
def require_factor(request: AuthedRequest) -> HttpResponse:
    """Set whose sign-in with a password needs a second factor."""
    try:
        requirement.put(request.user, request.POST.get("rule", ""))
    except (NotAllowed, ValueError) as error:
        return answer(request, {"failed": str(error)})
    return answer(request, {"notice": "Saved. People without one must set it up first."})


def _handed_over(request: AuthedRequest, link: accounts.PasswordLink) -> dict[str, Any]:
    return {"link": request.build_absolute_uri(f"/join/?token={link.token}"), "link_of": link.name}


def answer(request: AuthedRequest, notice: dict[str, Any]) -> HttpResponse:
    """Return the page, or its board, with a message."""
    people = accounts.listed()
    context = {
        "people": people,
        "roles": list(ROLES),
        "form": InvitationForm(initial={"role": "user"}),
        "rule": requirement.present(),
        "rules": requirement.CHOICES.items(),
        "rule_locked": requirement.locked(),
        "without_factor": sum(one.active and not one.invited and not one.second_factor for one in people),
        **notice,
    }
    return board(request, "toolsupport/people.html", context)

"""Views of the team's named prompts, and of their selection in a conversation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from chat.transcript.conversations import prompts
from chat.transcript.conversations.prompts import PromptDraft
from toolsupport.core.errors import Conflict, NotFound
from toolsupport.core.row_ids import row_number
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.form_page import board
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "chat/prompts.html"


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: AuthedRequest) -> HttpResponse:
    """List every available prompt."""
    return render(request, PAGE, _board(request))


@require_GET
@requires(Action.SEE_MODELS)
def versions(request: AuthedRequest) -> HttpResponse:
    """List the versions of a prompt with their authors."""
    found = prompts.versions(request.GET.get("name", ""))
    return render(request, f"{PAGE}#versions", {"versions": found})


@require_POST
@requires(Action.ADMINISTER)
def write(request: AuthedRequest) -> HttpResponse:
    """Store a new prompt, or a new version of one."""
    given = _given(request)
    try:
        notice = {"notice": f"Saved {prompts.write(request.user, given)}."}
    except Conflict as error:
        return _answer(request, {"failed": str(error), "stands": error.current, "given": given})
    except ValueError as error:
        return _answer(request, {"failed": str(error), "given": given})
    return _answer(request, notice)


@require_POST
@requires(Action.ADMINISTER)
def withdraw(request: AuthedRequest) -> HttpResponse:
    """Withdraw a prompt."""
    name = request.POST.get("name", "")
    try:
        prompts.withdraw(request.user, name)
    except NotFound:
        return _answer(request, {"failed": "It was already withdrawn."})
    return _answer(request, {"notice": f"{name} was withdrawn. Chats stop using it with their next message."})


def _given(request: AuthedRequest) -> PromptDraft:
    fields = [request.POST.get(name, "") for name in ("name", "description", "text")]
    basis = row_number(request.POST.get("basis", ""))
    return PromptDraft(fields[0], fields[1], fields[2].replace("\r\n", "\n"), basis)


def _answer(request: AuthedRequest, context: dict[str, Any]) -> HttpResponse:
    return board(request, PAGE, _board(request) | context)


def _board(request: AuthedRequest) -> dict[str, Any]:
    return {"prompts": prompts.offered(), "may_change": Action.ADMINISTER in request.actions}


# -- in a conversation --


@require_GET
@requires(Action.CHAT)
def chosen(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Show the prompts selected in a conversation, and the others."""
    return _choices(request, str(conversation_id))


@require_POST
@requires(Action.CHAT)
def choose(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Store the selected prompts, which apply from the next message on."""
    prompts.choose(request.user, str(conversation_id), request.POST.getlist("prompt"))
    return _choices(request, str(conversation_id), "Saved: from the next message on.")


def _choices(request: AuthedRequest, here: str, notice: str = "") -> HttpResponse:
    context = {"conversation": {"id": here}, "choices": prompts.choices(request.user, here), "notice": notice}
    return render(request, f"{PAGE}#choices", context)

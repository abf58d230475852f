"""Views that share a conversation with other people, and show shared ones."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat.transcript.messages import formatted
from chat.transcript.people import sharing
from toolsupport.registry.people.permissions import Action
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE, OTHERS = "chat/shared.html", "chat/others.html"


@require_http_methods(["GET", "POST"])
@requires(Action.CHAT)
def readers(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Show who may read the person's conversation; with POST, after adding a reader."""
    error = ""
    if request.method == "POST":
        try:
            sharing.share(request.user, str(conversation_id), request.POST.get("person", ""))
        except ValueError as problem:
            error = str(problem)
    return _readers(request, conversation_id, error)


@require_POST
@requires(Action.CHAT)
def withdraw(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Withdraw a reader's permission."""
    sharing.withdraw(request.user, str(conversation_id), request.POST.get("person", ""))
    return _readers(request, conversation_id)


@require_GET
@requires(Action.CHAT)
def listed(request: AuthedRequest) -> HttpResponse:
    """List the conversations that others share with the person."""
    context = {"listed": sharing.with_me(request.user), "administers": Action.ADMINISTER in request.actions}
    return render(request, PAGE, context)


@require_GET
@requires(Action.CHAT)
def read(request: AuthedRequest, shared_id: UUID) -> HttpResponse:
    """Show a conversation of another person."""
    shown = formatted.complete(request.user.pk, sharing.read(request.user, shared_id))
    return render(request, PAGE, {"conversation": shown})


@require_GET
@requires(Action.ADMINISTER)
def others(request: AuthedRequest) -> HttpResponse:
    """List conversations of other people that an administrator could read for a reason."""
    return render(request, OTHERS, {"listed": sharing.of_others(request.user)})


@require_http_methods(["GET", "POST"])
@requires(Action.ADMINISTER)
def look_into(request: AuthedRequest, foreign_id: UUID) -> HttpResponse:
    """Ask for the reason; with POST, show the conversation, and notify its owner each time."""
    context: dict[str, Any] = {"foreign": sharing.foreign(request.user, foreign_id)}
    if request.method == "POST":
        context["reason"] = request.POST.get("reason", "")
        try:
            found = sharing.look_into(request.user, foreign_id, context["reason"])
            read = formatted.complete(request.user.pk, found)
            return render(request, PAGE, {"conversation": read, "looked": True})
        except ValueError as problem:
            context["error"] = str(problem)
    return render(request, OTHERS, context)


def _readers(request: AuthedRequest, conversation_id: UUID, error: str = "") -> HttpResponse:
    here = str(conversation_id)
    found, looks = sharing.readers(request.user, here)
    link = request.build_absolute_uri(reverse("shared-conversation", args=[conversation_id]))
    context = {
        "conversation": {"id": here},
        "readers": found,
        "looks": looks,
        "error": error,
        "link": link,
        "wanted": request.POST.get("person", "") if error else "",
    }
    return render(request, f"{PAGE}#readers", context)

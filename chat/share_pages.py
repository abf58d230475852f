"""Sharing a conversation with somebody, and reading what others share."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat.transcript import sharing
from toolsupport.access import Action, requires

PAGE = "chat/shared.html"


@require_http_methods(["GET", "POST"])
@requires(Action.CHAT)
def readers(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Who may read one's conversation; with POST, after letting somebody."""
    error = ""
    if request.method == "POST":
        try:
            sharing.share(request.user, str(conversation_id), request.POST.get("person", ""))
        except ValueError as problem:
            error = str(problem)
    return _readers(request, conversation_id, error)


@require_POST
@requires(Action.CHAT)
def withdraw(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Let somebody read it no longer."""
    sharing.withdraw(request.user, str(conversation_id), request.POST.get("person", ""))
    return _readers(request, conversation_id)


@require_GET
@requires(Action.CHAT)
def listed(request: HttpRequest) -> HttpResponse:
    """What others let one read."""
    return render(request, PAGE, {"listed": sharing.with_me(request.user)})


@require_GET
@requires(Action.CHAT)
def read(request: HttpRequest, shared_id: UUID) -> HttpResponse:
    """A conversation of somebody else, to read."""
    return render(request, PAGE, {"conversation": sharing.read(request.user, shared_id)})


def _readers(request: HttpRequest, conversation_id: UUID, error: str = "") -> HttpResponse:
    here = str(conversation_id)
    context = {"conversation": {"id": here}, "readers": sharing.readers(request.user, here), "error": error}
    return render(request, f"{PAGE}#readers", context)

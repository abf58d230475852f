"""Views of the page *Why these tools*, where a chat can exclude some of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from chat.transcript.conversations import excluded_tools
from chat.transcript.conversations import next_request as conversations_explain
from chat.transcript.conversations.excluded_tools import SwitchChoice, ToolFilterChange
from chat.transcript.conversations.next_request import RequestExplanation
from toolsupport.core.errors import ConfigError
from toolsupport.core.name_order import by_name
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "chat/explain.html"


@require_GET
@requires(Action.SEE_MODELS)
def of_model(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Explain a new chat with this model."""
    return _answer(request, lambda text: conversations_explain.of_model(request.user, profile_id, text))


@require_GET
@requires(Action.CHAT)
def of_conversation(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Explain the next request of the person's own conversation."""
    return _answer(
        request, lambda text: conversations_explain.of_conversation(request.user, str(conversation_id), text)
    )


@require_POST
@requires(Action.DECIDE_FOR_CHAT)
def narrow(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Store which of the team's tools this conversation excludes."""
    here = str(conversation_id)
    change = ToolFilterChange(_choice(request, "tool"), _choice(request, "server"), request.POST.get("seen", ""))
    stored = excluded_tools.put(request.user, here, change)
    saved = {"saved": True, "others": sorted(stored.others, key=by_name)}
    explained = partial(conversations_explain.of_own, stored.conversation, remotes=stored.remotes)
    return _answer(request, explained, saved)


def _choice(request: AuthedRequest, kind: str) -> SwitchChoice:
    return SwitchChoice(request.POST.getlist(f"{kind}-shown"), request.POST.getlist(f"{kind}-kept"))


def _answer(
    request: AuthedRequest, explain: Callable[[str], RequestExplanation], saved: dict[str, Any] | None = None
) -> HttpResponse:
    part = "#explained" if wants_part(request) else ""
    given = request.POST if request.method == "POST" else request.GET
    try:
        explained = explain(given.get("message", ""))
    except ConfigError as error:
        return render(request, PAGE, {"error": str(error)})
    context = {"explained": explained, "seen": excluded_tools.stamp(explained.left_out)}
    return render(request, PAGE + part, context | (saved or {}))

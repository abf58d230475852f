"""Views of a conversation's memory: read, change, undo."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from chat.tools.files.text_decoding import size_in_words
from chat.tools.memory_dump import MOST_BYTES
from chat.transcript.conversations import memory as conversations_memory
from toolsupport.core import sanitize
from toolsupport.core.errors import Conflict
from toolsupport.registry.people.permissions import Action
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_GET
@requires(Action.CHAT)
def memory(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Show the memory, editable."""
    return _panel(request, str(conversation_id))


@require_POST
@requires(Action.CHAT)
def write(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Store a person's text; on an error it stays in the form."""
    here, text = str(conversation_id), sanitize.replaced(request.POST.get("text", "").replace("\r\n", "\n"))
    try:
        conversations_memory.write(request.user, here, text, request.POST.get("basis", ""))
    except Conflict as error:
        return _panel(request, here, {"failed": str(error), "stands": error.current, "given": text})
    except ValueError as error:
        return _panel(request, here, {"failed": str(error), "given": text})
    return _panel(request, here, {"notice": "Saved. It applies from the next message on."})


@require_POST
@requires(Action.CHAT)
def put_back(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Undo the last change."""
    here = str(conversation_id)
    try:
        conversations_memory.put_back(request.user, here, request.POST.get("basis", ""))
    except Conflict as error:
        return _panel(request, here, {"failed": str(error)})
    return _panel(request, here, {"notice": "Put back what stood there before."})


@require_POST
@requires(Action.CHAT)
def check(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Mark the memory as checked, as the person has just read it."""
    here = str(conversation_id)
    try:
        conversations_memory.check(request.user, here, request.POST.get("basis", ""))
    except Conflict as error:
        return _panel(request, here, {"failed": str(error), "stands": error.current})
    return _panel(request, here, {"notice": "Checked: it is an ordinary part of the prompt from the next message on."})


def _panel(request: AuthedRequest, here: str, notice: dict[str, Any] | None = None) -> HttpResponse:
    found = conversations_memory.show(request.user, here)
    context = {"conversation_id": here, "memory": found, "most": size_in_words(MOST_BYTES)}
    return render(request, "chat/memory.html", context | (notice or {}))

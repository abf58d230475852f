"""Views of a conversation's memory: read, change, undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from chat.tools.files.text_decoding import size_in_words
from chat.tools.memory_dump import MOST_BYTES
from chat.transcript.conversations import memory as conversations_memory
from toolsupport.core.errors import Conflict
from toolsupport.registry.people.permissions import Action
from toolsupport.web.view_permissions import AuthedRequest, requires

CHECKED = "Checked. From the next message on, the memory is a normal part of the prompt."


@require_GET
@requires(Action.CHAT)
def memory(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Show the memory, editable."""
    return _panel(request, str(conversation_id))


@require_POST
@requires(Action.CHAT)
def write(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Store a person's text; on an error it stays in the form."""
    text = request.POST.get("text", "").replace("\r\n", "\n")
    change = partial(conversations_memory.write, text=text)
    return _changed(request, str(conversation_id), change, "Saved. It applies from the next message on.")


@require_POST
@requires(Action.CHAT)
def put_back(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Undo the last change."""
    return _changed(request, str(conversation_id), conversations_memory.put_back, "The earlier text is back.")


@require_POST
@requires(Action.CHAT)
def check(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Mark the memory as checked, as the person has just read it."""
    return _changed(request, str(conversation_id), conversations_memory.check, CHECKED)


def _changed(request: AuthedRequest, here: str, change: Callable[..., object], done: str) -> HttpResponse:
    """Make the change on the text that this person saw; on an error the form keeps the sent text."""
    try:
        change(request.user, here, basis=request.POST.get("basis", ""))
    except (Conflict, ValueError) as error:
        wrong = {"failed": str(error), "stands": getattr(error, "current", None), "given": request.POST.get("text")}
        return _panel(request, here, wrong)
    return _panel(request, here, {"notice": done})


def _panel(request: AuthedRequest, here: str, notice: Mapping[str, Any] = MappingProxyType({})) -> HttpResponse:
    found = conversations_memory.show(request.user, here)
    context = {"conversation_id": here, "memory": found, "most": size_in_words(MOST_BYTES)}
    return render(request, "chat/memory.html", context | dict(notice))

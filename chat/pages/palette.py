"""Serves the options of the palette: models, commands, the person's own chats, pages."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from chat.transcript.conversations import listing
from toolsupport.registry.models import picker
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.navigation import SECTIONS
from toolsupport.web.view_permissions import AuthedRequest, requires

MODELS, CHATS, FOUND = 300, 200, 10


@dataclass(frozen=True, slots=True)
class PalettePage:
    """A page of the site, with its icon and the action that it needs."""

    title: str
    url: str
    icon: str
    action: Action = Action.SEE_MODELS


# The sections of the navigation come first, then these.
PAGES = (
    PalettePage("Overview: what your models can do", "start", "ev-proven"),
    PalettePage("MCP servers", "mcp", "server"),
    PalettePage("Databases", "sources", "folder"),
    PalettePage("Prompts", "prompts", "file"),
    PalettePage("Model families", "families", "model", Action.ADMINISTER),
    PalettePage("Shared with you", "shared", "chats", Action.CHAT),
    PalettePage("Your account", "account", "person", Action.OWN_ACCOUNT),
    PalettePage("Audit", "audit", "clock", Action.ADMINISTER),
)


@require_GET
@requires(Action.SEE_MODELS)
def palette(request: AuthedRequest) -> HttpResponse:
    """Return the options of the palette, which the page filters; with `q` the person's chats whose texts contain it."""
    may_chat, wanted = Action.CHAT in request.actions, request.GET.get("q", "").strip()
    if wanted:
        found = listing.search(request.user, wanted).rows[:FOUND] if may_chat else ()
        return render(request, "chat/palette.html", {"chats": found, "q": wanted})
    context = {
        "models": picker.choices()[:MODELS],
        "chats": listing.page(request.user, size=CHATS).rows if may_chat else (),
        "pages": _pages(request.actions),
        "hidden": picker.hidden_note(),
        "may_chat": may_chat,
    }
    return render(request, "chat/palette.html", context)


def _pages(allowed: frozenset[Action]) -> list[PalettePage]:
    sections = [PalettePage(one.title, one.url, one.icon, one.action) for one in SECTIONS]
    others = [PalettePage(one.title, reverse(one.url), one.icon, one.action) for one in PAGES]
    return [one for one in (*sections, *others) if one.action in allowed]

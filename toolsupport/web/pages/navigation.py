"""Builds the navigation with the sections a person may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from toolsupport.registry.history import read_marks
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.servers import missing_flags
from toolsupport.web.view_permissions import actions_of


@dataclass(frozen=True, slots=True)
class Section:
    """`begins` is the prefix of the section's URLs; `action` is the permission needed to see it."""

    title: str
    url: str
    begins: str
    action: Action


SECTIONS = (
    Section("Chat", "/", "/chat/", Action.CHAT),
    Section("Models", "/models/", "/models/", Action.SEE_MODELS),
    Section("Tools", "/tools/", "/tools/", Action.SEE_MODELS),
    Section("History", "/history/", "/history/", Action.SEE_MODELS),
    Section("Insights", "/insights/", "/insights/", Action.SEE_MODELS),
    Section("Servers", "/servers/", "/servers/", Action.SEE_MODELS),
    Section("People", "/people/", "/people/", Action.ADMINISTER),
)


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Return the context of every page: `navigation` [{title, url, current, unread, needs}, …], in display order.

    `needs` describes a task for an administrator there.
    """
    allowed = actions_of(request)
    unread = read_marks.unread(request.user.pk or 0) if Action.SEE_MODELS in allowed else 0
    sections = [section for section in SECTIONS if section.action in allowed]
    lacking = missing_flags.servers() if Action.ADMINISTER in allowed else 0
    return {"navigation": [_shown(section, request.path, unread, lacking) for section in sections]}


def _shown(section: Section, path: str, unread: int, lacking: int) -> dict[str, Any]:
    return {
        "title": section.title,
        "url": section.url,
        "current": path.startswith(section.begins),
        "unread": unread if section.begins == "/history/" else 0,
        "needs": lacking if section.begins == "/servers/" else 0,
    }

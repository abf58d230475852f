"""Builds the navigation with the sections a person may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from toolsupport.registry.history import inbox
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.servers import reachability
from toolsupport.web.view_permissions import actions_of, confined


@dataclass(frozen=True, slots=True)
class Section:
    """`begins` is the prefix of the section's URLs; `action` is the permission needed to see it.

    `about` stands below the title on a phone. Rare sections share one menu beside the others.
    """

    title: str
    url: str
    begins: str
    action: Action
    about: str
    icon: str
    rare: bool = False


SECTIONS = (
    Section("Chat", "/", "/chat/", Action.CHAT, "Ask a model, with tools", "chats"),
    Section("Models", "/models/", "/models/", Action.SEE_MODELS, "What each model can do, with the evidence", "model"),
    Section("Tools", "/tools/", "/tools/", Action.SEE_MODELS, "What models may call", "tool"),
    Section("History", "/history/", "/history/", Action.SEE_MODELS, "Every change, with its source", "clock"),
    Section("Insights", "/insights/", "/insights/", Action.SEE_MODELS, "Calls that worked and failed", "chart"),
    Section("Exams", "/exams/", "/exams/", Action.SEE_MODELS, "Cases with expected calls, graded", "g-yes", rare=True),
    Section("Servers", "/servers/", "/servers/", Action.SEE_MODELS, "Where the models run", "server", rare=True),
    Section("People", "/people/", "/people/", Action.ADMINISTER, "Accounts and roles", "people", rare=True),
)


MOST_WAITING = 100


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Return the context of every page: `navigation` [{title, url, about, icon, rare, current, unread, needs}, …].

    `needs` counts what an administrator has to do there; `section_here` is the title of the section of this page.
    """
    allowed = frozenset[Action]() if _leads_nowhere(request) else actions_of(request)
    waiting = inbox.count(MOST_WAITING) if Action.SEE_MODELS in allowed else 0
    sections = [section for section in SECTIONS if section.action in allowed]
    problems = reachability.with_problems() if Action.ADMINISTER in allowed else 0
    here = next((section.title for section in sections if request.path.startswith(section.begins)), "Menu")
    return {
        "navigation": [_shown(section, request.path, waiting, problems) for section in sections],
        "section_here": here,
        "may_chat": Action.CHAT in allowed,
    }


def _leads_nowhere(request: HttpRequest) -> bool:
    """Return whether all sections lead to the set-up of a second factor. An error page may have no session."""
    return hasattr(request, "session") and confined(request)


def _shown(section: Section, path: str, waiting: int, problems: int) -> dict[str, Any]:
    return {
        "title": section.title,
        "url": section.url,
        "about": section.about,
        "icon": section.icon,
        "rare": section.rare,
        "current": path.startswith(section.begins),
        "unread": waiting if section.begins == "/history/" else 0,
        "needs": problems if section.begins == "/servers/" else 0,
    }

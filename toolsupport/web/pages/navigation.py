"""Builds the navigation with the sections a person may see."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from toolsupport.registry.history import inbox
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.testing import open_problems
from toolsupport.web.view_permissions import actions_of, confined


@dataclass(frozen=True, slots=True)
class Section:
    """`begins` is the prefix of the section's URLs; `action` is the permission needed to see it.

    `about` is shown below the title on a phone. Rare sections share one menu beside the others.
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
    Section("Exams", "/exams/", "/exams/", Action.SEE_MODELS, "Cases with expected calls, graded", "g-yes"),
    Section("Tools", "/tools/", "/tools/", Action.SEE_MODELS, "What models may call", "tool"),
    Section("History", "/history/", "/history/", Action.SEE_MODELS, "Every change, with its source", "clock"),
    Section("Insights", "/insights/", "/insights/", Action.SEE_MODELS, "Calls that worked and failed", "chart"),
    Section("Servers", "/servers/", "/servers/", Action.SEE_MODELS, "Where the models run", "server", rare=True),
    Section("People", "/people/", "/people/", Action.ADMINISTER, "Accounts and roles", "people", rare=True),
)


MOST_WAITING = 100
# Section → the kind of marks that it counts for administrators, and the words for one and for several.
MARKS = {
    "/models/": (open_problems.MODELS, "model changed since its test", "models changed since their tests"),
    "/servers/": (open_problems.SERVERS, "server has a problem", "servers have a problem"),
    "/people/": (open_problems.QUOTAS, "quota is used up, or nearly", "quotas are used up, or nearly"),
}
NO_MARKS: Mapping[str, int] = dict.fromkeys(open_problems.KINDS, 0)


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Return the context of every page: `navigation` [{title, url, about, icon, rare, current, unread, needs}, …].

    `needs` counts the tasks of an administrator there, in the words `what_needs`; `section_here` is the title of the
    page's section, `quotas_near` how many quotas are used up or nearly. Only numbers that a template shows are counted.
    """
    allowed = frozenset[Action]() if _leads_nowhere(request) else actions_of(request)
    here = next((one.title for one in _sections(allowed) if request.path.startswith(one.begins)), "Menu")
    counts = cache(partial(_counts, allowed))
    shown = SimpleLazyObject(lambda: _all_shown(request.path, allowed, *counts()))
    near = SimpleLazyObject(lambda: counts()[1][open_problems.QUOTAS])
    return {"navigation": shown, "section_here": here, "quotas_near": near, "may_chat": Action.CHAT in allowed}


def _leads_nowhere(request: HttpRequest) -> bool:
    """Return whether every section redirects to the set-up of a second factor. An error page may have no session."""
    return hasattr(request, "session") and confined(request)


def _sections(allowed: Collection[Action]) -> list[Section]:
    return [section for section in SECTIONS if section.action in allowed]


def _counts(allowed: Collection[Action]) -> tuple[int, Mapping[str, int]]:
    """Return how many entries of the history wait, and how many marks there are."""
    if Action.ADMINISTER in allowed:
        waiting, found = inbox.count_with(MOST_WAITING, *open_problems.statement())
        return waiting, open_problems.counted(found)
    return inbox.count(MOST_WAITING) if Action.SEE_MODELS in allowed else 0, NO_MARKS


def _all_shown(path: str, allowed: Collection[Action], waiting: int, marks: Mapping[str, int]) -> list[dict[str, Any]]:
    return [_shown(section, path, waiting, marks) for section in _sections(allowed)]


def _shown(section: Section, path: str, waiting: int, marks: Mapping[str, int]) -> dict[str, Any]:
    kind, one, several = MARKS.get(section.begins, ("", "", ""))
    needs = marks[kind] if kind else 0
    return {
        "title": section.title,
        "url": section.url,
        "about": section.about,
        "icon": section.icon,
        "rare": section.rare,
        "current": path.startswith(section.begins),
        "unread": waiting if section.begins == "/history/" else None,
        "needs": needs,
        "what_needs": one if needs == 1 else several,
    }

"""Views of the tools, with the team's defaults for every chat."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from chat.sentences import ABOUT_TOOLS
from chat.tools import BUILTINS, hot_swap, policy
from chat.tools.tool import Tool
from chat.transcript.settings import available_tools, prompt_context
from chat.transcript.settings.team_context import TeamContext
from toolsupport.core import format_choice
from toolsupport.core.errors import Conflict, NotAllowed
from toolsupport.core.name_order import by_name
from toolsupport.core.tool_selection import Candidate
from toolsupport.core.types import ToolFilter
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.mcp import mcp_servers
from toolsupport.registry.models import picker
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.settings import switches, team_settings, tool_settings
from toolsupport.registry.testing import drift
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "chat/tools.html"
FOR_ADMINISTRATORS = ("A3", "A4")
LONGEST_NAME = 200
Team = Mapping[str, Any]  # all effective settings of the team
PLACES = (
    ("read_file", "list_directory", "write_file", "edit_file"),
    ("bash", "python_execution"),
    ("search_schemas", "execute_sql"),
    ("memory_dump", "hot_swap"),
    ("tool_search",),
)
GROUPS = ("Files", "Code", "Data and memory")  # the first of PLACES by their order, and the others
# Risk of a tool by its level, as the bars show it.
RISKS = {"A0": "read", "A1": "read", "A2": "files", "A3": "code", "A4": "outside"}


@require_GET
@requires(Action.SEE_MODELS)
def tools(request: AuthedRequest) -> HttpResponse:
    """List every tool with its risk and its switch; with `show=defaults` the formats, defaults and automation."""
    here = "defaults" if request.GET.get("show") == "defaults" else "tools"
    team = team_settings.everything()
    parts = [part(request, team) for part in (_tools, _formats, _defaults, _switches)]
    return render(request, PAGE, {name: value for part in parts for name, value in part.items()} | {"here": here})


@require_POST
@requires(Action.DECIDE_FOR_ALL)
def switch(request: AuthedRequest) -> HttpResponse:
    """Enable or disable a built-in tool for every chat; only administrators for code and outside effects."""
    name, on = request.POST.get("tool", ""), request.POST.get("on") == "on"
    tool = BUILTINS.get(name)
    if tool is None:
        return render(request, f"{PAGE}#offered", _tools(request) | {"error": "This tool does not exist."})
    if tool.level in FOR_ADMINISTRATORS and Action.ADMINISTER not in request.actions:
        raise NotAllowed("Only an administrator can change tools of this risk.")
    if not (on and tool.missing):
        tool_settings.switch(name, on, tool.level, request.user.pk)
    return render(request, f"{PAGE}#offered", _tools(request) | {"saved": name})


@require_POST
@requires(Action.ADMINISTER)
def leave_out(request: AuthedRequest) -> HttpResponse:
    """Exclude a tool of an MCP server, or the whole server, from every chat, or allow it again."""
    kind, name = request.POST.get("kind", ""), request.POST.get("name", "")
    if kind not in ("tools", "servers") or not 0 < len(name) <= LONGEST_NAME:
        return render(request, f"{PAGE}#offered", _tools(request) | {"error": "This tool does not exist."})
    tool_settings.leave_out(kind, name, request.POST.get("out") == "out")
    return render(request, f"{PAGE}#offered", _tools(request) | {"saved": name})


@require_POST
@requires(Action.ADMINISTER)
def set_formats(request: AuthedRequest) -> HttpResponse:
    """Store which call formats are used, and which has precedence."""
    kept = request.POST.getlist("kept")
    disabled = frozenset(name for name in format_choice.names() if name not in kept)
    wanted = tool_settings.FormatSettings(request.POST.get("primary", ""), disabled)
    notice: dict[str, Any] = {"saved": True}
    try:
        tool_settings.put_formats(wanted, request.POST.get("seen", ""))
    except (Conflict, ValueError) as error:
        notice = {"error": str(error), "clash": getattr(error, "current", ""), "wanted": wanted}
    return render(request, f"{PAGE}#formats", _formats(request) | notice)


@require_POST
@requires(Action.ADMINISTER)
def defaults(request: AuthedRequest) -> HttpResponse:
    """Store the team's defaults."""
    given = [request.POST.get(name, "") for name in ("prompt", "temperature", "model")]
    try:
        team_settings.put_defaults(*given)
    except ValueError as error:
        return render(request, f"{PAGE}#defaults", _defaults(request) | {"error": str(error), "prompt": given[0]})
    return render(request, f"{PAGE}#defaults", _defaults(request) | {"saved": True})


@require_POST
@requires(Action.ADMINISTER)
def set_switches(request: AuthedRequest) -> HttpResponse:
    """Store the team's switches."""
    try:
        switches.put({name: str(value) for name, value in request.POST.items()})
    except ValueError as error:
        return render(request, f"{PAGE}#switches", _switches(request) | {"error": str(error)})
    drift.mark_all()
    return render(request, f"{PAGE}#switches", _switches(request) | {"saved": True})


def _tools(request: AuthedRequest, team: Team | None = None) -> dict[str, Any]:
    team = team or team_settings.everything()
    allowed = request.actions
    databases = sql_sources.names(request.user.pk)
    offered = TeamContext(dict(team), prompt_context.offered(), databases)
    candidates = available_tools.offer(team=offered).candidates
    found = (one for one in candidates if one.kind == "mcp")
    deferred = sorted(found, key=lambda one: by_name(one.server, one.spec.name))
    left_out = ToolFilter.read(team["left_out"])
    built_in = sorted((one for one in candidates if one.spec.name in BUILTINS), key=_place)
    return {
        "tools": [_row(one, allowed) | {"idle": _idle(one, deferred)} for one in built_in],
        "others": [{"candidate": one, "out": one.spec.name in left_out.tools} for one in deferred],
        "servers_out": left_out.servers,
        "waiting": mcp_servers.waiting(),
        "may_change": Action.ADMINISTER in allowed,
    }


def _place(candidate: Candidate) -> int:
    """Return the sort key that groups related tools; models get another order."""
    return next((place for place, names in enumerate(PLACES) if candidate.spec.name in names), len(PLACES))


def _row(candidate: Candidate, allowed: Collection[Action]) -> dict[str, Any]:
    tool = BUILTINS[candidate.spec.name]
    needed = Action.ADMINISTER if tool.level in FOR_ADMINISTRATORS else Action.DECIDE_FOR_ALL
    return {
        "tool": tool,
        "candidate": candidate,
        "about": ABOUT_TOOLS.get(candidate.spec.name, ""),
        "more": tool.spec.description,
        "group": GROUPS[min(_place(candidate), len(GROUPS) - 1)],
        "risk": RISKS[tool.level],
        "behaviour": _behaviour(tool),
        "may_switch": needed in allowed,
        "stuck": bool(tool.missing) and not candidate.enabled,
    }


def _behaviour(tool: Tool) -> str:
    """Return what happens at a call."""
    if policy.verdict(tool, frozenset(), tainted=False) is not policy.CallDecision.RUN:
        return "Asks every time"
    tainted = policy.verdict(tool, frozenset(), tainted=True)
    return "Runs without asking" if tainted is policy.CallDecision.RUN else "Asks in a chat with outside content"


def _idle(candidate: Candidate, deferred: Sequence[Candidate]) -> dict[str, str]:
    """Return why a working tool still lacks data, and the page to add it; empty if it has some."""
    if candidate.kind == "sql" and not candidate.connected:
        return {"why": "There is no database that your chats may read.", "url": "sources", "page": "Databases"}
    if candidate.spec.name == hot_swap.TOOL.spec.name and candidate.missing:
        return {"why": candidate.missing, "url": "prompts", "page": "Prompts"}
    if candidate.kind == "search" and not deferred:
        return {"why": "There are no approved tools to search.", "url": "mcp", "page": "MCP servers"}
    return {}


def _formats(request: AuthedRequest, team: Team | None = None) -> dict[str, Any]:
    return {
        "formats": tool_settings.formats(team or team_settings.everything()),
        "every_format": [(name, format_choice.label(name)) for name in format_choice.names()],
        "may_change": Action.ADMINISTER in request.actions,
    }


def _switches(request: AuthedRequest, team: Team | None = None) -> dict[str, Any]:
    return {
        "switches": switches.shown(team or team_settings.everything()),
        "may_change": Action.ADMINISTER in request.actions,
    }


def _defaults(request: AuthedRequest, team: Team | None = None) -> dict[str, Any]:
    team = team or team_settings.everything()
    return {
        "prompt": team["base_system_prompt"],
        "temperature": team["temperature"],
        "model": team["default_model"],
        "choices": picker.chatting(),
        "hidden": picker.hidden_note(),
        "may_change": Action.ADMINISTER in request.actions,
    }

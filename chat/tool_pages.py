"""The page of the tools, with the team's defaults for every chat."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from chat.tools import BUILTINS
from chat.tools.tool import LEVELS
from toolsupport.access import Action, may, requires
from toolsupport.registry import picker, switches, system_settings

PAGE = "chat/tools.html"


@require_GET
@requires(Action.SEE_MODELS)
def tools(request: HttpRequest) -> HttpResponse:
    """Every built-in tool with what it may do, then the defaults."""
    rows = [{"tool": tool, "level": LEVELS[tool.level], "asks": tool.preview is not None} for tool in BUILTINS.values()]
    return render(request, PAGE, {"tools": rows} | _defaults(request) | _switches(request))


@require_POST
@requires(Action.ADMINISTER)
def defaults(request: HttpRequest) -> HttpResponse:
    """Keep the team's defaults."""
    given = [request.POST.get(name, "") for name in ("prompt", "temperature", "model")]
    try:
        system_settings.put_defaults(*given)
    except ValueError as error:
        return render(request, f"{PAGE}#defaults", _defaults(request) | {"error": str(error), "prompt": given[0]})
    return render(request, f"{PAGE}#defaults", _defaults(request) | {"saved": True})


@require_POST
@requires(Action.ADMINISTER)
def set_switches(request: HttpRequest) -> HttpResponse:
    """Keep what the team switched on or off."""
    try:
        switches.put({name: str(value) for name, value in request.POST.items()})
    except ValueError as error:
        return render(request, f"{PAGE}#switches", _switches(request) | {"error": str(error)})
    return render(request, f"{PAGE}#switches", _switches(request) | {"saved": True})


def _switches(request: HttpRequest) -> dict[str, Any]:
    return {"switches": switches.shown(), "may_change": may(request.user, Action.ADMINISTER)}


def _defaults(request: HttpRequest) -> dict[str, Any]:
    return {
        "prompt": system_settings.base_system_prompt(),
        "temperature": system_settings.temperature(),
        "model": system_settings.default_model(),
        "choices": picker.choices(),
        "may_change": may(request.user, Action.ADMINISTER),
    }

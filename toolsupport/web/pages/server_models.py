"""The part of a server's page where administrators pull, delete and unload its models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import ConfigError, ProviderError
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.servers import pulls, server_models, servers
from toolsupport.registry.servers.servers import ListedServer
from toolsupport.services import model_actions
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "toolsupport/server_upkeep.html"
PARTS = frozenset({"pulls", "loaded", "stored"})

Deed = Callable[[int, str, int], Awaitable[str]]
DEEDS: Mapping[str, Deed] = MappingProxyType(
    {
        "pull": model_actions.pull,
        "cancel": model_actions.cancel,
        "delete": model_actions.delete,
        "unload": model_actions.unload,
    }
)


@require_GET
@requires(Action.ADMINISTER)
def shown(request: AuthedRequest, server_id: int) -> HttpResponse:
    """The current state of one part: the downloads, the models in memory, the models on disk."""
    part = request.GET.get("part")
    server = servers.shown(server_id)
    answer = render(request, f"{PAGE}#{part if part in PARTS else 'upkeep'}", context(server))
    if part == "pulls" and not any(pull.open for pull in pulls.listed(server_id)):
        answer.headers["HX-Trigger"] = "models-changed"
    return answer


@require_POST
@requires(Action.ADMINISTER)
def act(request: AuthedRequest, server_id: int) -> HttpResponse:
    """Pull, cancel, delete or unload a model by name."""
    server = servers.shown(server_id)
    notice = _done(request, server_id)
    if wants_part(request):
        return render(request, f"{PAGE}#upkeep", context(server) | notice)
    if notice:
        level = messages.ERROR if "upkeep_wrong" in notice else messages.SUCCESS
        messages.add_message(request, level, next(iter(notice.values())))
    return redirect("server", server_id)


def context(server: ListedServer) -> dict[str, Any]:
    """The context of the part; empty if the models of this server cannot be managed here."""
    if not server.keeps_models:
        return {"server": server}
    asks = server.enabled and server.reachable is not False
    memory = async_to_sync(model_actions.running)(server.id) if asks else model_actions.ModelsInMemory(why=server.why)
    return {
        "server": server,
        "pulls": pulls.listed(server.id),
        "memory": memory,
        "stored": server_models.stored(server.id),
    }


def _done(request: AuthedRequest, server_id: int) -> dict[str, str]:
    deed, name = DEEDS.get(request.POST.get("deed", "")), request.POST.get("name", "").strip()
    if deed is None or not name:
        return {"upkeep_wrong": "Name a model."}
    try:
        notice = async_to_sync(deed)(server_id, name, int(request.user.pk))
    except (ConfigError, ProviderError) as error:
        return {"upkeep_wrong": str(error)}
    return {"upkeep_notice": notice} if notice else {}

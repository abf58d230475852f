"""Views of the model servers."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from toolsupport import providers
from toolsupport.core.history_sentences import counted
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.servers import server_edits, servers
from toolsupport.services import refresh as services_refresh
from toolsupport.web.pages.form_page import board, made, moved_on
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.pages.server_forms import ServerForm
from toolsupport.web.view_permissions import AuthedRequest, requires

RECOMMENDED = ("qwen3:8b", "granite3.2")


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: AuthedRequest) -> HttpResponse:
    """List every server: online, or offline since when and why, and what to do."""
    return _answer(request, {})


@require_POST
@requires(Action.ADMINISTER)
def add(request: AuthedRequest) -> HttpResponse:
    """Add a server and query it at once; an offline one is stored with its error."""
    form = ServerForm(request.POST)
    actor = int(request.user.pk)
    server_id = made(form, lambda **fields: server_edits.add(servers.NewServer(**fields), actor))
    return _answer(request, {"form": form}) if server_id is None else _checked(request, server_id)


@require_POST
@requires(Action.DETECT)
def check(request: AuthedRequest, server_id: int) -> HttpResponse:
    """Query one server again, and return to the page `back`, which shows its error."""
    name, back = servers.shown(server_id).name, request.POST.get("back", "")
    if not url_has_allowed_host_and_scheme(back, None):
        return _checked(request, server_id)
    asked = async_to_sync(services_refresh.refresh)(server_id)
    words = f"Checked {name} again. It is not online yet." if asked.why else asked.words
    return moved_on(request, back, words, ok=not asked.why)


@require_POST
@requires(Action.DETECT)
def refresh(request: AuthedRequest) -> HttpResponse:
    """Query every server again."""
    asked = async_to_sync(services_refresh.refresh_all)()
    answered = sum(not one.why for one in asked)
    notice = f"Checked {counted(len(asked), 'server')}: {answered} online."
    return (
        _answer(request, {"notice": notice}) if wants_part(request) else moved_on(request, reverse("servers"), notice)
    )


@require_POST
@requires(Action.ADMINISTER)
def switch(request: AuthedRequest, server_id: int) -> HttpResponse:
    """Enable or disable a server."""
    servers.set_enabled(server_id, request.POST.get("enabled") == "1")
    return _answer(request, {}) if wants_part(request) else moved_on(request, _place(server_id))


@require_GET
@requires(Action.SEE_MODELS)
def status(request: AuthedRequest, server_id: int) -> HttpResponse:
    """Show when a server is asked again, or its whole card after its status changed."""
    server = servers.shown(server_id)
    if server.again_in is not None and request.GET.get("badge") == server.badge:
        return render(request, "toolsupport/servers.html#again", {"server": server})
    answer = render(request, "toolsupport/servers.html#card", {"server": server, **_rights(request)})
    answer.headers["HX-Retarget"] = f"#server-{server_id}"
    return answer


def _rights(request: AuthedRequest) -> dict[str, bool]:
    return {
        "may_administer": Action.ADMINISTER in request.actions,
        "may_check": Action.DETECT in request.actions,
    }


def _checked(request: AuthedRequest, server_id: int) -> HttpResponse:
    asked = async_to_sync(services_refresh.refresh)(server_id)
    if not wants_part(request):
        return moved_on(request, _place(server_id), asked.words, ok=not asked.why)
    return _answer(request, {"notice": asked.words, "notice_for": server_id})


def _place(server_id: int) -> str:
    return f"{reverse('servers')}#server-{server_id}"


def _answer(request: AuthedRequest, notice: dict[str, Any]) -> HttpResponse:
    first = next(iter(providers.PROVIDERS.values()))
    context = {
        "servers": servers.listed(),
        "form": ServerForm(initial={"kind": first.kind}),
        **_rights(request),
        "recommended": RECOMMENDED,
        **notice,
    }
    return board(request, "toolsupport/servers.html", context)

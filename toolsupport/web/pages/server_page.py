"""The page on which an administrator edits or removes one model server."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import ConfigError
from toolsupport.registry.people import audit_log
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.servers import server_edits, servers
from toolsupport.registry.servers.server_edits import ServerChange
from toolsupport.services import refresh
from toolsupport.web.pages import server_models
from toolsupport.web.pages.form_page import board
from toolsupport.web.pages.server_forms import ServerEditForm
from toolsupport.web.view_permissions import AuthedRequest, requires

LATEST = 10


@require_GET
@requires(Action.ADMINISTER)
def shown(request: AuthedRequest, server_id: int) -> HttpResponse:
    """One server: its fields, its removal, the latest changes."""
    return _answer(request, server_id, {})


@require_POST
@requires(Action.ADMINISTER)
def edit(request: AuthedRequest, server_id: int) -> HttpResponse:
    """Change a server, and list its models at once."""
    form = ServerEditForm(request.POST, has_key=True)
    if not _saved(form, server_id, int(request.user.pk)):
        return _answer(request, server_id, {"form": form})
    asked = async_to_sync(refresh.refresh)(server_id)
    notice = "Saved, but the server cannot be used yet." if asked.why else f"Saved. {asked.words}"
    return _answer(request, server_id, {"notice": notice})


@require_POST
@requires(Action.ADMINISTER)
def remove(request: AuthedRequest, server_id: int) -> HttpResponse:
    """Remove a server; the page with the button has explained the effect on its models."""
    servers.shown(server_id)
    try:
        name = server_edits.remove(server_id, int(request.user.pk))
    except ConfigError as error:
        return _answer(request, server_id, {"wrong": str(error)})
    messages.success(request, f"{name} was removed. What is known about its models was kept.")
    return redirect("servers")


def _saved(form: ServerEditForm, server_id: int, actor: int) -> bool:
    if not form.is_valid():
        return False
    try:
        server_edits.edit(server_id, ServerChange(**form.cleaned_data), actor)
    except ConfigError as error:
        form.add_error(None, str(error))
        return False
    return True


def _answer(request: AuthedRequest, server_id: int, notice: dict[str, Any]) -> HttpResponse:
    server = servers.shown(server_id)
    context = {
        **server_models.context(server),
        "form": ServerEditForm.of(server),
        "changes": audit_log.of(server_edits.subject(server_id))[:LATEST],
        "down": [server] if server.down else [],
        **notice,
    }
    return board(request, "toolsupport/server.html", context)

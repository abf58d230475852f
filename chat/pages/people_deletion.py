"""The page on which an administrator deletes the data of a person."""

from __future__ import annotations

from channels.db import database_sync_to_async as in_database
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from chat.turns import person_deletion
from toolsupport.core.errors import Busy, ConfigError
from toolsupport.registry.people import deletion
from toolsupport.registry.people.deletion import DeletionOrder
from toolsupport.registry.people.permissions import Action
from toolsupport.services.backups import kept_backups
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_http_methods(["GET", "POST"])
@requires(Action.ADMINISTER)
async def delete(request: AuthedRequest, person_id: int) -> HttpResponse:
    """List the data that is deleted and the data that stays; with POST and the typed name, delete it."""
    name, failed = await in_database(deletion.name_of)(person_id), ""
    if request.method == "POST":
        try:
            await person_deletion.delete(DeletionOrder(person_id, request.POST.get("name", ""), request.user.pk))
            return redirect("people")
        except (ConfigError, Busy) as error:
            failed = str(error)
    context = {"name": name, "own": person_id == request.user.pk, "failed": failed}
    context["copies"] = await in_database(kept_backups.copies)()
    status = 422 if failed else 200
    return await in_database(render)(request, "chat/person_deletion.html", context, status=status)

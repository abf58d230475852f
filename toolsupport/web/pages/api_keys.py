"""Views of a person's own API keys."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import Busy, ConfigError
from toolsupport.registry.models import picker
from toolsupport.registry.people import api_keys
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages import account
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_POST
@never_cache
@requires(Action.CHAT)
def create(request: AuthedRequest) -> HttpResponse:
    """Create a key, which is shown in this response and never again."""
    person, name = request.user, request.POST.get("name", "")
    try:
        return account.answer(request, {"new_key": api_keys.create(person.pk, name), "key_name": name.strip()})
    except (Busy, ConfigError) as error:
        return account.answer(request, {"key_failed": str(error), "key_name": name}, status=422)


@require_POST
@requires(Action.CHAT)
def revoke(request: AuthedRequest, key_id: int) -> HttpResponse:
    """Revoke a key; programs that use it are refused from now on."""
    api_keys.revoke(request.user.pk, key_id)
    return account.answer(request, {"notice": "Revoked. Programs that use this key are refused from now on."})


@require_GET
@requires(Action.CHAT)
def in_code(request: AuthedRequest) -> HttpResponse:
    """Return sample code with the address of this site and one of its models."""
    model = picker.shown(picker.first_choice())
    context = {
        "base_url": request.build_absolute_uri("/v1"),
        "site": request.build_absolute_uri("/"),
        "model": f"{model.server}/{model.name}" if model else "server/model",
        "evidence": model.evidence if model else None,
    }
    return render(request, "toolsupport/in_code.html", context)

"""Views that recognise the server at an address before it is added."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from toolsupport import providers
from toolsupport.core.errors import ConfigError, ProviderError
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.servers import addresses
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_POST
@requires(Action.ADMINISTER)
def guess(request: AuthedRequest) -> HttpResponse:
    """Show what answers at an address, with the button that adds it as such."""
    if not wants_part(request):
        return redirect("servers")
    context: dict[str, object] = {"address": request.POST.get("base_url", "")}
    try:
        context["address"] = url = addresses.server_url("openai", str(context["address"]))
        kind = async_to_sync(providers.guess)(url)
        context |= {"kind": kind, "title": providers.provider(kind or "openai").title}
    except ConfigError as error:
        context["wrong"] = str(error)
    except ProviderError:
        context["silent"] = True
    return render(request, "toolsupport/server_guess.html", context)

"""Views that recognise the server at an address before it is added."""

from __future__ import annotations

from urllib.parse import urlsplit

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
    """Show the kind of server at an address, with the button that adds it."""
    if not wants_part(request):
        return redirect("servers")
    context: dict[str, object] = {}
    try:
        url = addresses.server_url("openai", _with_scheme(request.POST.get("base_url", "").strip()))
        context = {"address": url, "host": urlsplit(url).netloc}
        kind = async_to_sync(providers.guess)(url)
        context |= {"kind": kind, "title": providers.provider(kind or "openai").title}
    except ConfigError as error:
        context["wrong"] = str(error)
    except ProviderError as error:
        context["locked" if error.kind == "unauthorized" else "silent"] = True
    return render(request, "toolsupport/server_guess.html", context)


def _with_scheme(written: str) -> str:
    """Return an address that begins with a scheme: people write "localhost:11434"."""
    return written if "://" in written else f"http://{written}"

"""Views of a person's own API keys."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import Busy, ConfigError
from toolsupport.registry.people import api_keys
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages import account, code_samples
from toolsupport.web.pages.form_page import moved_on
from toolsupport.web.pages.key_form import KeyForm
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_POST
@never_cache
@requires(Action.CHAT)
def create(request: AuthedRequest) -> HttpResponse:
    """Create a key; only this response shows it, in sample code."""
    form = KeyForm(request.POST)
    if not form.is_valid():
        return account.answer(request, {"key_form": form}, status=422)
    name = form.cleaned_data["name"]
    try:
        code = code_samples.context(request, key=api_keys.create(request.user.pk, name, form.limits()))
    except (Busy, ConfigError) as error:
        form.add_error(None, str(error))
        return account.answer(request, {"key_form": form}, status=422)
    return render(request, "toolsupport/in_code.html", {"code": code, "key_name": name})


@require_POST
@requires(Action.CHAT)
def revoke(request: AuthedRequest, key_id: int) -> HttpResponse:
    """Revoke a key; programs that use it are refused from now on."""
    api_keys.revoke(request.user.pk, key_id)
    return moved_on(request, reverse("account"), "Revoked. Programs that use this key are refused from now on.")


@require_GET
@never_cache
@requires(Action.CHAT)
def in_code(request: AuthedRequest) -> HttpResponse:
    """Show sample code with the address of this site and one of its models."""
    return render(
        request, "toolsupport/in_code.html", {"code": code_samples.context(request, request.GET.get("model", ""))}
    )


@sensitive_post_parameters("key")
@require_POST
@never_cache
@requires(Action.CHAT)
def in_code_filled(request: AuthedRequest) -> HttpResponse:
    """Show the same for another model with the key that the page has just shown; the key is not stored."""
    wanted, key = request.POST.get("model", ""), request.POST.get("key", "")
    page = "toolsupport/in_code.html" + ("#code" if request.htmx else "")
    return render(request, page, {"code": code_samples.context(request, wanted, key)})

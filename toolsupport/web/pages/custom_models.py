"""Views in which people define and describe models."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from toolsupport.core.errors import ConfigError
from toolsupport.registry.models import custom_models, profiles
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.custom_model_forms import ModelDefinitionForm, ModelDescriptionForm
from toolsupport.web.view_permissions import AuthedRequest, requires


@require_http_methods(["GET", "POST"])
@requires(Action.ADMINISTER)
def add(request: AuthedRequest) -> HttpResponse:
    """Define a model, even if its server does not list it."""
    form = ModelDefinitionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("model", custom_models.define(form.cleaned_data["server"], form.cleaned_data["name"]))
        except ConfigError as error:
            form.add_error("name", str(error))
    return render(request, "toolsupport/model_add.html", {"form": form})


@require_http_methods(["GET", "POST"])
@requires(Action.ADMINISTER)
def write(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Store a description of a model, or remove the model from every choice."""
    page = profiles.shown(profile_id)
    form = ModelDescriptionForm(request.POST) if request.method == "POST" else ModelDescriptionForm.of(page)
    if request.method == "POST" and form.is_valid():
        custom_models.write(profile_id, form.written())
        return redirect("model", profile_id)
    return render(request, "toolsupport/model_write.html", {"page": page, "form": form})

"""The fallback models on the page of a model: their context, and the view that stores a change."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from toolsupport.core import model_fallbacks
from toolsupport.core.errors import ConfigError
from toolsupport.core.row_ids import row_number
from toolsupport.registry.fallbacks import fallback_chain, fallback_settings
from toolsupport.registry.fallbacks.fallback_settings import FallbackChange, FallbackSettings
from toolsupport.registry.models import picker, profiles
from toolsupport.registry.models.profiles import ModelPage
from toolsupport.registry.people.permissions import Action
from toolsupport.web.view_permissions import AuthedRequest, requires

MODELS, ONLY_VALIDATED = fallback_settings.MODELS, fallback_settings.ONLY_VALIDATED
ONLY = {"": None, "true": True, "false": False}
LENGTH = 500


class FallbackForm(forms.Form):
    """The rule for fallback models and its reason; the models are read from repeated fields."""

    only_validated_fallbacks = forms.ChoiceField(
        required=False, choices=[("", ""), ("true", "true"), ("false", "false")]
    )
    reason = forms.CharField(max_length=LENGTH, error_messages={"required": "Write a reason."})


def shown(page: ModelPage, request: AuthedRequest) -> dict[str, Any]:
    """Return the current chain for the page of a model, and the fields for people who may change it."""
    steps = fallback_chain.of_model(page.profile)
    if Action.DECIDE_FOR_ALL not in request.actions:
        return {"fallbacks": steps}
    chosen = fallback_settings.of(page.profile.options)
    others = [row for row in picker.chatting(True) if row.pk != page.model.id]
    places = [*chosen.models, *([0] * (model_fallbacks.MOST - len(chosen.models)))]
    return {
        "fallbacks": steps,
        "fallback_places": places,
        "fallback_choices": others,
        "only_validated": chosen.only_validated,
    }


@require_POST
@requires(Action.DECIDE_FOR_ALL)
def change(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Store the fallback models of a model, in their order, with a reason."""
    form, _ = FallbackForm(request.POST), profiles.row(profile_id)
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return redirect("model", profile_id)
    models = tuple(row_number(one) for one in request.POST.getlist(MODELS) if one)
    wanted = FallbackSettings(models, ONLY[form.cleaned_data[ONLY_VALIDATED]])
    try:
        fallback_settings.save(FallbackChange(profile_id, wanted, request.user.pk, form.cleaned_data["reason"]))
        messages.success(request, "Saved.")
    except ConfigError as error:
        messages.error(request, str(error))
    return redirect("model", profile_id)

"""The forms in which people define models."""

from __future__ import annotations

from typing import Any

from django import forms

from toolsupport.registry.models import custom_models
from toolsupport.registry.models.custom_models import ModelDescription
from toolsupport.registry.models.profiles import ModelPage
from toolsupport.registry.servers import servers

BILLION = 10**9


class ModelDefinitionForm(forms.Form):
    """A model of a server, by its name in requests to that server."""

    server = forms.TypedChoiceField(coerce=int, label="Server")
    name = forms.CharField(max_length=200, label="Name", help_text="As the server expects it in a request.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        there = [(server.id, server.name) for server in servers.listed() if not server.simulated]
        self.fields["server"].choices = there  # type: ignore[attr-defined]


class ModelDescriptionForm(forms.Form):
    """A person's description of a model; an empty field leaves a fact to the server and the family table."""

    enabled = forms.BooleanField(required=False, label="Can be chosen")
    description = forms.CharField(required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 3}))
    family = forms.ChoiceField(required=False, label="Family", help_text="It gives the values that are not tested.")
    billions = forms.FloatField(
        required=False,
        min_value=0.001,
        max_value=100_000,
        label="Parameters",
        help_text="In billions. The size limits how many tools of MCP servers are offered.",
    )
    quantization = forms.CharField(required=False, max_length=40, label="Quantisation")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        families = [("", "By name"), *((name, name) for name in custom_models.family_names())]
        self.fields["family"].choices = families  # type: ignore[attr-defined]

    @classmethod
    def of(cls, page: ModelPage) -> ModelDescriptionForm:
        profile, written = page.profile, page.profile.by_hand
        count = written.get("parameter_count")
        return cls(
            initial={
                "enabled": profile.enabled,
                "description": profile.description,
                "family": written.get("family", ""),
                "billions": count / BILLION if count else None,
                "quantization": written.get("quantization", ""),
            }
        )

    def written(self) -> ModelDescription:
        given = dict(self.cleaned_data)
        billions = given.pop("billions")
        return ModelDescription(**given, parameter_count=round(billions * BILLION) if billions else None)

"""The form in which a person decides one capability of a model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, time
from types import MappingProxyType
from typing import Any

from django import forms
from django.utils import timezone

from toolsupport.core.format_choice import label, names
from toolsupport.core.prompt.tool_styles import STYLES
from toolsupport.core.resolve import CAPABILITIES

EVIDENCE = "evidence"
YES_NO = {"yes": True, "no": False}
TOOL = {"native": "Called natively", "via_bash": "Done with bash", "refused": "Refused"}
NUMBERS = frozenset({"max_tools", "context"})
LARGEST = 100_000_000
FORMATS = {name: label(name) for name in names() if name != "native"}

THINKING = {"both": "With both", "off_only": "Only with thinking off", "on_only": "Only with thinking on"}

# Choices: capability → value → words. Every other capability that is not a number is yes or no.
CHOICES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "format": FORMATS,
        "call_format": FORMATS,
        "prompt_style": {name: name.capitalize() for name in STYLES},
        "tools_thinking": THINKING,
        "constrains": {"enforced": "Enforced", "accepted": "Accepted but not enforced", "refused": "Refused"},
    }
)


def choices(capability: str) -> Mapping[str, str]:
    """Return the selectable values with their labels; none for a number."""
    if capability in NUMBERS:
        return {}
    return TOOL if capability.startswith("tool:") else CHOICES.get(capability, {"yes": "Yes", "no": "No"})


class CapabilityForm(forms.Form):
    """A person's decision on one capability; `newest` is the newest claim on the page at that time."""

    capability = forms.ChoiceField(choices=[(name, name) for name in CAPABILITIES])
    value = forms.CharField(max_length=40)
    reason = forms.CharField(required=False, max_length=500)
    newest = forms.IntegerField(min_value=0)
    expires = forms.DateField(required=False)

    def clean_expires(self) -> datetime | None:
        """Return the end of that day in UTC, by which every reader sees it."""
        day = self.cleaned_data["expires"]
        if day is None:
            return None
        if day < timezone.localdate():
            raise forms.ValidationError("Choose today or a later day, in UTC.")
        return timezone.make_aware(datetime.combine(day, time.max))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        capability, written = given.get("capability", ""), given.get("value", "")
        if capability and written and written != EVIDENCE:
            given["meant"] = self._meant(capability, written)
        return given

    def _meant(self, capability: str, written: str) -> Any:
        if capability in NUMBERS:
            if written.isascii() and written.isdigit() and 0 < int(written) <= LARGEST:
                return int(written)
            raise forms.ValidationError("Write a whole number, 1 or more.")
        if written not in choices(capability):
            raise forms.ValidationError("Choose one of the values.")
        return YES_NO.get(written, written)

    @property
    def meant(self) -> Any:
        """Return the value, or None to follow the evidence."""
        return self.cleaned_data.get("meant")

    def wrong(self) -> str:
        """Return all errors in one sentence."""
        return " ".join(str(fault) for faults in self.errors.values() for fault in faults)

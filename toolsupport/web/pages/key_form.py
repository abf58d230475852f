"""Form of a new API key."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from django import forms

from toolsupport.core.quota_rules import LARGEST, Quota
from toolsupport.registry.people.api_keys import LONGEST_NAME, KeyLimits
from toolsupport.registry.people.permissions import SCOPES

SCOPE_LABELS = {"chat": "Use models", "models": "Read models and their evidence", "detect": "Start tests"}


class Day(forms.DateInput):
    """A day that the browser offers as a calendar."""

    input_type = "date"


class KeyForm(forms.Form):
    """The name of a key, and its limits."""

    name = forms.CharField(
        label="Name of the new key", max_length=LONGEST_NAME, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    scopes = forms.MultipleChoiceField(
        label="Permissions",
        choices=[(scope, SCOPE_LABELS[scope]) for scope in SCOPE_LABELS],
        initial=sorted(SCOPES),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose a permission."},
    )
    expires = forms.DateField(
        label="Expires on",
        required=False,
        help_text="At 00:00 UTC. Leave empty for a key that never expires.",
        widget=Day(format="%Y-%m-%d"),
    )
    requests_day = forms.IntegerField(label="Requests per day", required=False, min_value=1, max_value=LARGEST)

    def limits(self) -> KeyLimits:
        """Return the chosen limits."""
        given = self.cleaned_data
        return KeyLimits(given["scopes"], beginning_of(given["expires"]), Quota(given["requests_day"]))


def beginning_of(day: date | None) -> datetime | None:
    """Return the beginning of a day in UTC; None for none."""
    return datetime.combine(day, time(), UTC) if day else None

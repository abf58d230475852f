"""The filters of the history and of the insights."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms

from toolsupport.registry.history import timeline_filters
from toolsupport.registry.metrics import insights


class FilterForm(forms.Form):
    """A filter whose empty fields are folded, as is `apart`, whose value the page shows elsewhere."""

    apart = ""

    def in_use(self) -> list[forms.BoundField]:
        """Return the fields with a value."""
        return [field for field in self if field.value() and field.name != self.apart]

    def others(self) -> list[forms.BoundField]:
        """Return the other fields."""
        return [field for field in self if not field.value() or field.name == self.apart]


class HistoryForm(FilterForm):
    """The filter of the history; an empty field matches everything."""

    profile = forms.TypedChoiceField(required=False, coerce=int, empty_value=None, label="Model")
    server = forms.TypedChoiceField(required=False, coerce=int, empty_value=None, label="Server")
    kind = forms.ChoiceField(required=False, label="What")
    source = forms.ChoiceField(required=False, label="Source")
    verdict = forms.ChoiceField(required=False, label="Verdict")
    actor = forms.TypedChoiceField(required=False, coerce=int, empty_value=None, label="Person")
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, choices in timeline_filters.all_of_them().items():
            self.fields[name].choices = [("", "All"), *choices]  # type: ignore[attr-defined]

    def chosen(self) -> dict[str, str]:
        """Return the non-empty fields, as they were sent."""
        return {name: self.data[name] for name in self.fields if self.data.get(name)}

    def query(self) -> str:
        """Return them as a query string."""
        return urlencode(self.chosen())


class InsightsForm(FilterForm):
    """The filter of the insights; an empty field matches everything. Buttons choose the usual start dates."""

    apart = "since"
    profile = forms.TypedChoiceField(required=False, coerce=int, empty_value=None, label="Model")
    format = forms.ChoiceField(required=False, label="Format")
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, choices in insights.choices().items():
            self.fields[name].choices = [("", "All"), *choices]  # type: ignore[attr-defined]

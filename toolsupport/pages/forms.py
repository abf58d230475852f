"""The forms of the pages of models and servers."""

from __future__ import annotations

from typing import Any

from django import forms

from toolsupport import providers
from toolsupport.registry.profiles import Editor, Options, Page

DECISIONS = (("yes", "Yes"), ("no", "No"), ("evidence", "Follow the evidence"))
THINK = (("", "The server decides"), ("true", "On"), ("false", "Off"))
THINK_VALUES = {"": None, "true": True, "false": False}
FEWEST_TOKENS, MOST_TOKENS = 512, 2_097_152


class DecisionForm(forms.Form):
    """What a person decides about native tools; `newest` is what they had seen when they decided."""

    decision = forms.ChoiceField(choices=DECISIONS, widget=forms.RadioSelect, label="Does this model support tools?")
    reason = forms.CharField(required=False, max_length=500, label="Reason")
    newest = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    @classmethod
    def of(cls, editor: Editor) -> DecisionForm:
        decision = {True: "yes", False: "no", None: "evidence"}[editor.decided]
        return cls(initial={"decision": decision, "newest": editor.newest})

    @property
    def value(self) -> bool | None:
        """True, False, or None for following the evidence."""
        return {"yes": True, "no": False}.get(self.cleaned_data["decision"])


class OptionsForm(forms.Form):
    """How a model is asked."""

    num_ctx = forms.IntegerField(
        min_value=FEWEST_TOKENS,
        max_value=MOST_TOKENS,
        label="Context (num_ctx)",
        help_text="In tokens. Changing it makes the server load the model anew.",
    )
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=2, label="Temperature", help_text="0 to 2; empty: 0.3 with tools."
    )
    keep_alive = forms.RegexField(
        r"^-?\d+(\.\d+)?(ms|s|m|h)?$",
        required=False,
        label="Keep loaded (keep_alive)",
        help_text="As in 10m or 1h, -1 for always; empty: the server decides.",
        error_messages={"invalid": "Write a time as in 30s, 10m or 1h, or -1 for always."},
    )
    think = forms.ChoiceField(required=False, choices=THINK, label="Thinking")

    @classmethod
    def of(cls, page: Page) -> OptionsForm:
        kept = page.profile.options
        think = {True: "true", False: "false"}.get(kept.get("think"), "")
        initial: dict[str, Any] = {"num_ctx": page.num_ctx, "think": think}
        return cls(initial=initial | {name: kept.get(name) for name in ("temperature", "keep_alive")})

    def options(self) -> Options:
        chosen = self.cleaned_data
        think = THINK_VALUES[chosen["think"]]
        return Options(chosen["num_ctx"], chosen["temperature"], chosen["keep_alive"], think)


class ServerForm(forms.Form):
    """A server to add. The key goes in and never comes out again."""

    name = forms.CharField(max_length=80, label="Name")
    kind = forms.ChoiceField(label="Kind")
    base_url = forms.CharField(
        required=False,
        max_length=300,
        label="Address",
        help_text="Empty: where this kind of server usually is.",
        widget=forms.URLInput,
    )
    api_key = forms.CharField(
        required=False,
        max_length=500,
        label="API key",
        help_text="Only if the server wants one. It is kept encrypted and not shown again.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The Simulator is a server of the house: it comes by itself.
        rows = [row for row in providers.PROVIDERS.values() if row.kind != "simulator"]
        self.fields["kind"] = forms.ChoiceField(choices=[(row.kind, row.title) for row in rows], label="Kind")
        self.fields["base_url"].widget.attrs["placeholder"] = rows[0].default_url

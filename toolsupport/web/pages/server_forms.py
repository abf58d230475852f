"""The forms of the pages of model servers."""

from __future__ import annotations

from typing import Any

from django import forms

from toolsupport import providers
from toolsupport.registry.servers.servers import ListedServer


class ServerForm(forms.Form):
    """A server to add. The key is write-only."""

    name = forms.CharField(max_length=80, label="Name")
    kind = forms.ChoiceField(label="Kind")
    base_url = forms.CharField(
        required=False,
        max_length=300,
        label="Address",
        help_text="Empty: the usual address of this kind of server.",
        widget=forms.URLInput,
    )
    api_key = forms.CharField(
        required=False,
        max_length=500,
        label="API key",
        help_text="Only if the server needs one. It is stored encrypted and not shown again.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    inside = forms.ChoiceField(
        required=False,
        label="Network",
        choices=[("inside", "May be inside this network"), ("outside", "Only outside this network")],
        help_text="Inside: this machine and private networks. Cloud metadata addresses are never used.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The Simulator is part of this site: it is added automatically.
        rows = [row for row in providers.PROVIDERS.values() if row.kind != "simulator"]
        self.fields["kind"] = forms.ChoiceField(choices=[(row.kind, row.title) for row in rows], label="Kind")
        self.fields["base_url"].widget.attrs["placeholder"] = rows[0].default_url

    def clean_inside(self) -> bool:
        return bool(self.cleaned_data["inside"] != "outside")


class ServerEditForm(ServerForm):
    """The new values of a server. An empty key keeps the stored one, which is never shown."""

    remove_key = forms.BooleanField(required=False, label="Remove the stored API key")

    def __init__(self, *args: Any, has_key: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["api_key"].label = "New API key"
        kept = "A key is stored. Enter another one to replace it." if has_key else "No key is stored."
        self.fields["api_key"].help_text = kept
        if not has_key:
            del self.fields["remove_key"]

    @classmethod
    def of(cls, server: ListedServer) -> ServerEditForm:
        initial = {"name": server.name, "kind": server.kind, "base_url": server.base_url}
        initial["inside"] = "inside" if server.inside else "outside"
        return cls(initial=initial, has_key=server.has_key)

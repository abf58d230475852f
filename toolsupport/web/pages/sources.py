"""Views of the databases that models may read."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import ConfigError
from toolsupport.registry.databases import example_database, sql_sources
from toolsupport.registry.people.permissions import ROLES, Action
from toolsupport.services import database_schema_refresh
from toolsupport.sources.types import KINDS
from toolsupport.web.pages.form_page import board, made
from toolsupport.web.view_permissions import AuthedRequest, requires

# Those who have chats of their own.
CHATTING = tuple(role for role, allowed in ROLES.items() if Action.CHAT in allowed)
GROUPS = tuple((role, role.capitalize()) for role in CHATTING)


class SourceForm(forms.Form):
    """A database to add."""

    name = forms.CharField(max_length=40, label="Name", help_text="The name that models use: letters, digits, _ and -.")
    kind = forms.ChoiceField(choices=[(kind, notice.partition(":")[0]) for kind, notice in KINDS.items()], label="Kind")
    location = forms.CharField(
        max_length=500,
        label="Location",
        help_text=". ".join(KINDS.values()) + ". It is stored encrypted and never shown again.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    groups = forms.MultipleChoiceField(
        choices=GROUPS,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Who may use it",
        help_text="Their models can read everything in it.",
    )


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: AuthedRequest) -> HttpResponse:
    """List every database: its readers, its contents, why it cannot be read."""
    return _answer(request, {})


@require_POST
@requires(Action.ADMINISTER)
def add(request: AuthedRequest) -> HttpResponse:
    """Add a database and read its schema at once; an unreadable one is stored with its error."""
    form = SourceForm(request.POST)
    source_id = made(form, lambda **fields: sql_sources.add(sql_sources.NewSource(**fields)))
    return _answer(request, {"form": form}) if source_id is None else _looked(request, source_id)


@require_POST
@requires(Action.ADMINISTER)
def example(request: AuthedRequest) -> HttpResponse:
    """Add the example database, the orders of a tea shop."""
    try:
        source_id = example_database.install()
    except ConfigError as error:
        return _answer(request, {"error": str(error)})
    return _looked(request, source_id)


@require_POST
@requires(Action.ADMINISTER)
def look(request: AuthedRequest, source_id: int) -> HttpResponse:
    """Refresh the schema of a database."""
    return _looked(request, source_id)


@require_POST
@requires(Action.ADMINISTER)
def switch(request: AuthedRequest, source_id: int) -> HttpResponse:
    """Allow or forbid chats to read it."""
    sql_sources.set_enabled(source_id, request.POST.get("enabled") == "1")
    return _answer(request, {})


@require_POST
@requires(Action.ADMINISTER)
def groups(request: AuthedRequest, source_id: int) -> HttpResponse:
    """Set the groups whose chats may read it."""
    sql_sources.set_groups(source_id, set(CHATTING) & set(request.POST.getlist("groups")))
    return _answer(request, {"notice_for": source_id, "notice": "Saved"})


@require_POST
@requires(Action.ADMINISTER)
def remove(request: AuthedRequest, source_id: int) -> HttpResponse:
    """Delete its entry, with its address. The database itself stays."""
    sql_sources.remove(source_id)
    return _answer(request, {})


def _looked(request: AuthedRequest, source_id: int) -> HttpResponse:
    why = async_to_sync(database_schema_refresh.refresh_schema)(source_id)
    return _answer(request, {"notice_for": source_id, "notice": "It cannot be read." if why else "It can be read."})


def _answer(request: AuthedRequest, notice: dict[str, Any]) -> HttpResponse:
    found = sql_sources.listed()
    context = {
        "sources": found,
        "form": SourceForm(initial={"groups": CHATTING}),
        "roles": CHATTING,
        "may_administer": Action.ADMINISTER in request.actions,
        "example": example_database.NAME not in {source.name for source in found},
        **notice,
    }
    return board(request, "toolsupport/sources.html", context)

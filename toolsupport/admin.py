"""The rows of models and servers as an administrator may look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from toolsupport.models import ModelProfile, Override, Server, Setting, Standing

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin  # generic for the type checker only


class Undeletable(ModelAdmin):
    """Rows that come from servers: switched off, never added or deleted by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class AppendOnly(Undeletable):
    """Rows that nobody changes, not even here."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Server)
class ServerAdmin(Undeletable):
    list_display = ("name", "kind", "base_url", "enabled", "reachable", "last_seen_at")
    list_filter = ("kind", "enabled", "reachable")
    fields = (
        *("name", "kind", "base_url", "enabled", "origin", "version", "reachable"),
        *("last_seen_at", "checked_at", "down_since", "last_error", "created_at"),
    )
    readonly_fields = tuple(name for name in fields if name != "enabled")


@admin.register(ModelProfile)
class ModelProfileAdmin(Undeletable):
    list_display = ("name", "server", "family", "digest", "enabled", "last_seen", "gone_since")
    list_filter = ("server", "enabled", "family")
    list_select_related = ("server",)
    search_fields = ("name",)
    fields = (
        *("server", "name", "enabled", "description", "family", "digest", "template_hash", "abilities"),
        *("parameter_count", "quantization", "size_bytes", "context_length", "default_context", "options", "extra"),
        *("first_seen", "last_seen", "gone_since"),
    )
    readonly_fields = tuple(name for name in fields if name not in ("enabled", "description"))


@admin.register(Override)
class OverrideAdmin(AppendOnly):
    list_display = ("profile", "seq", "capability", "value", "source", "actor", "proposed", "created_at")
    list_filter = ("source", "capability", "proposed")
    list_select_related = ("profile__server", "actor")


@admin.register(Standing)
class StandingAdmin(AppendOnly):
    list_display = ("profile", "capability", "value", "source", "stale", "reason")
    list_filter = ("capability", "source", "stale")
    list_select_related = ("profile__server",)


@admin.register(Setting)
class SettingAdmin(AppendOnly):
    # Values are left out: one of them is the hash of the set-up token.
    list_display = ("key", "changed_at")
    fields = ("key", "changed_at")

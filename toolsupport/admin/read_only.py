"""Read-only kinds of pages in Django's administration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin  # generic for the type checker only


class UndeletableAdmin(ModelAdmin):
    """Rows that come from servers; an administrator can disable them, but not add or delete them."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class AppendOnlyAdmin(UndeletableAdmin):
    """Rows that cannot be changed, not even by an administrator."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ListOnlyAdmin(AppendOnlyAdmin):
    """Rows whose key is a secret or a digest, listed without links, so that no URL contains a key."""

    list_display_links = None
    actions = None

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return obj is None and super().has_view_permission(request, obj)

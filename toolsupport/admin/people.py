"""Django admin pages for the rows of people, their keys and their ways to sign in, read-only."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from toolsupport.admin.read_only import AppendOnlyAdmin, ListOnlyAdmin
from toolsupport.models import (
    ApiKey,
    Audit,
    ExternalIdentity,
    Passkey,
    QuotaLimit,
    QuotaUse,
    ReadEntry,
    ReadMark,
    RecoveryCode,
    SecondFactor,
    SecurityEvent,
    Session,
    SignInDevice,
    SignInTally,
)
from toolsupport.registry.people import api_keys


@admin.register(ReadMark)
class ReadMarkAdmin(AppendOnlyAdmin):
    list_display = ("person", "entry", "at")
    list_select_related = ("person",)


@admin.register(ReadEntry)
class ReadEntryAdmin(AppendOnlyAdmin):
    list_display = ("person", "entry", "at")
    list_select_related = ("person",)


@admin.register(Audit)
class AuditAdmin(AppendOnlyAdmin):
    list_display = ("at", "actor", "deed", "subject", "reason")
    list_select_related = ("actor",)
    list_filter = ("deed",)


@admin.register(ApiKey)
class ApiKeyAdmin(AppendOnlyAdmin):
    """Keys can be viewed and revoked; only their owners create them."""

    list_display = ("prefix", "name", "person", "scopes", "created_at", "used_at", "expires_at", "revoked_at")
    list_select_related = ("person",)
    fields = list_display
    actions = ("revoke",)

    @admin.action(description="Revoke the selected keys")
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiKey]) -> None:
        for key in chosen:
            api_keys.revoke(key.person_id, key.pk)


@admin.register(QuotaLimit)
class QuotaLimitAdmin(AppendOnlyAdmin):
    list_display = ("kind", "subject", "requests_day", "requests_month", "tokens_day", "tokens_month")


admin.site.register(QuotaUse, AppendOnlyAdmin)
admin.site.register([Passkey, RecoveryCode, SecondFactor], ListOnlyAdmin)


@admin.register(Session)
class SessionAdmin(ListOnlyAdmin):
    list_display = ("person", "expire_date")
    list_select_related = ("person",)


@admin.register(SignInTally)
class SignInTallyAdmin(ListOnlyAdmin):
    list_display = ("tries", "until")


@admin.register(SignInDevice)
class SignInDeviceAdmin(ListOnlyAdmin):
    list_display = ("person", "created_at", "used_at")
    list_select_related = ("person",)


@admin.register(ExternalIdentity)
class ExternalIdentityAdmin(AppendOnlyAdmin):
    list_display = ("person", "issuer", "subject", "created_at", "used_at")
    list_select_related = ("person",)


@admin.register(SecurityEvent)
class SecurityEventAdmin(ListOnlyAdmin):
    list_display = ("kind", "person", "address", "times", "first_at", "last_at")
    list_filter = ("kind",)
    list_select_related = ("person",)


@admin.register(LogEntry)
class LogEntryAdmin(AppendOnlyAdmin):
    list_display = ("action_time", "user", "content_type", "object_repr", "action_flag")
    list_select_related = ("user", "content_type")


# Django's own for people could change and delete them: once it is imported, it can give way.
admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(AppendOnlyAdmin):
    """Read-only: people are invited, changed and deactivated on their own page."""

    list_display = ("username", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "groups")
    search_fields = ("username",)
    ordering = UserAdmin.ordering
    fields = ("username", "groups", "is_active", "is_staff", "is_superuser", "last_login", "date_joined")

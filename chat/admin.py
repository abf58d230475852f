"""Read-only Django admin pages for the rows of the chat, without message texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from chat.models import (
    ComparedAnswer,
    Comparison,
    Conversation,
    FormattedMessage,
    Grant,
    Memory,
    Message,
    Prompt,
    Question,
    RawExchange,
    ResultTable,
    Share,
    ToolRun,
    Turn,
)

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """Rows that only the chat writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = ("id", "owner", "profile", "updated_at", "archived")
    list_select_related = ("owner", "profile__server")
    fields = ("id", "owner", "profile", "created_at", "updated_at", "archived")
    readonly_fields = fields


@admin.register(Comparison)
class ComparisonAdmin(ReadOnlyAdmin):
    list_display = ("turn", "made_at")
    exclude = ("case",)


@admin.register(ComparedAnswer)
class ComparedAnswerAdmin(ReadOnlyAdmin):
    list_display = ("comparison", "profile", "status", "duration_ms", "output_tokens")
    list_filter = ("status",)
    list_select_related = ("profile__server",)
    exclude = ("replies", "error")


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    list_display = ("id", "conversation", "profile", "status", "created_at", "ended_at")
    list_filter = ("status",)
    list_select_related = ("conversation", "profile__server")
    exclude = ("client_id",)


@admin.register(ToolRun)
class ToolRunAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "status", "level", "duration_ms", "started_at")
    list_filter = ("status", "name")
    fields = ("turn", "name", "asked_as", "served_by", "status", "level", "format", "duration_ms", "started_at")


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ("id", "conversation", "role", "code", "finished", "created_at")
    list_filter = ("role",)
    list_select_related = ("conversation",)
    fields = ("conversation", "parent", "role", "code", "turn", "finished", "created_at")


@admin.register(ResultTable)
class ResultTableAdmin(ReadOnlyAdmin):
    list_display = ("id", "run")
    fields = ("run",)


@admin.register(RawExchange)
class RawExchangeAdmin(ReadOnlyAdmin):
    list_display = ("id", "conversation", "status", "times", "duration_ms", "started_at")
    list_filter = ("status",)
    list_select_related = ("conversation",)
    fields = ("conversation", "message", "status", "times", "request_bytes", "reply_bytes", "duration_ms", "started_at")


@admin.register(FormattedMessage)
class FormattedMessageAdmin(ReadOnlyAdmin):
    list_display = ("message",)
    fields = ("message",)


@admin.register(Question)
class QuestionAdmin(ReadOnlyAdmin):
    list_display = ("id", "conversation", "kind", "answer", "answered_by", "answered_at", "expires_at")
    list_filter = ("kind", "answer")
    list_select_related = ("conversation", "answered_by")
    fields = ("conversation", "turn", "kind", "options", "answer", "answered_by", "answered_at", "expires_at")


@admin.register(Grant)
class GrantAdmin(ReadOnlyAdmin):
    list_display = ("tool", "path", "conversation", "granted_by", "granted_at", "revoked_at")
    list_select_related = ("conversation", "granted_by")


@admin.register(Share)
class ShareAdmin(ReadOnlyAdmin):
    list_display = ("conversation", "reader", "shared_at", "withdrawn_at")
    list_select_related = ("conversation", "reader")


@admin.register(Prompt)
class PromptAdmin(ReadOnlyAdmin):
    list_display = ("name", "description", "withdrawn", "written_by", "written_at")
    list_select_related = ("written_by",)
    fields = ("name", "description", "withdrawn", "written_by", "written_at")
    readonly_fields = fields


@admin.register(Memory)
class MemoryAdmin(ReadOnlyAdmin):
    list_display = ("id", "conversation", "written_by", "written_at")
    list_select_related = ("conversation", "written_by")
    fields = ("conversation", "written_by", "written_at")
    readonly_fields = fields

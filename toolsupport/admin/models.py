"""Django admin pages for the rows of models, their servers, tests and settings, mostly read-only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from toolsupport.admin.read_only import AppendOnlyAdmin, ModelAdmin, UndeletableAdmin
from toolsupport.core import name_checks
from toolsupport.core.families.table import CALL_FORMATS, MULTI_TURN, PROMPT_STYLES
from toolsupport.models import (
    CallMetric,
    Detection,
    ExamPaper,
    ExamRun,
    ExamTrial,
    Family,
    HistoryEntry,
    HistoryFacet,
    Lease,
    McpServer,
    McpTool,
    ModelProfile,
    ModelPull,
    Override,
    PromptCount,
    ProvenCall,
    ReplyTime,
    Review,
    Server,
    Setting,
    SqlSource,
    TeamCase,
    TeamExam,
    Trial,
)
from toolsupport.registry.knowledge import team_families


@admin.register(Server)
class ServerAdmin(UndeletableAdmin):
    list_display = ("name", "kind", "base_url", "enabled", "reachable", "last_seen_at")
    list_filter = ("kind", "enabled", "reachable")
    fields = (
        *("name", "kind", "base_url", "inside", "enabled", "origin", "version", "reachable"),
        *("last_seen_at", "checked_at", "down_since", "last_error", "created_at"),
    )
    readonly_fields = tuple(name for name in fields if name != "enabled")


@admin.register(ModelPull)
class ModelPullAdmin(AppendOnlyAdmin):
    """To look at: models are pulled on the page of their server."""

    list_display = ("name", "server", "status", "asked_by", "created_at", "ended_at")
    list_filter = ("status", "server")
    list_select_related = ("server", "asked_by")


@admin.register(McpServer)
class McpServerAdmin(AppendOnlyAdmin):
    """Read-only: MCP servers are defined and enabled on their own page."""

    list_display = ("name", "kind", "url", "enabled", "reachable", "last_seen_at")
    fields = (
        *("name", "kind", "url", "enabled", "version", "reachable", "last_seen_at", "checked_at", "down_since"),
        *("last_error", "left_out", "created_at"),
    )


@admin.register(McpTool)
class McpToolAdmin(AppendOnlyAdmin):
    """Read-only: tools are approved on their own page, which shows the difference between definitions."""

    list_display = ("name", "server", "enabled", "read_only", "approved_by", "approved_at", "gone_since")
    list_filter = ("server", "enabled", "read_only")
    list_select_related = ("server", "approved_by")


@admin.register(ModelProfile)
class ModelProfileAdmin(UndeletableAdmin):
    list_display = ("name", "server", "family", "digest", "enabled", "last_seen", "gone_since")
    list_filter = ("server", "enabled", "family")
    list_select_related = ("server",)
    search_fields = ("name",)
    fields = (
        *("server", "name", "enabled", "description", "family", "digest", "template_hash", "abilities"),
        *("parameter_count", "quantization", "size_bytes", "context_length", "default_context", "options", "extra"),
        *("defined", "by_hand", "first_seen", "last_seen", "gone_since"),
    )
    readonly_fields = tuple(name for name in fields if name not in ("enabled", "description"))


# What a family's words may be.
VOCABULARY = {"call_format": CALL_FORMATS, "prompt_style": PROMPT_STYLES, "multi_turn": MULTI_TURN}


def is_names(value: Any) -> bool:
    """Return True for a list of names."""
    return isinstance(value, list) and all(isinstance(name, str) and not name_checks.problem(name) for name in value)


class FamilyForm(forms.ModelForm):  # type: ignore[type-arg]
    """Form for a model family, checked like a row of the shipped table."""

    class Meta:
        model = Family
        fields = "__all__"

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        for name in ("patterns", "excepted", "refuses"):
            if not is_names(cleaned.get(name, [])):
                self.add_error(name, 'Write a list of names, as in ["my-model"].')
        if why := name_checks.problem(cleaned.get("name", "-")):
            self.add_error("name", f"Choose another name: this one {why}.")
        if not cleaned.get("patterns"):
            self.add_error("patterns", "Name at least one.")
        for name, known in VOCABULARY.items():
            if cleaned.get(name) and cleaned[name] not in known:
                self.add_error(name, f"Leave it empty, or write one of: {', '.join(sorted(known))}.")
        return cleaned


@admin.register(Family)
class FamilyAdmin(ModelAdmin):
    """Model families of the team; saving one updates the models at once."""

    form = FamilyForm
    list_display = ("name", "patterns", "tools", "call_format", "enabled")
    list_filter = ("enabled",)

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        team_families.apply()

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        # Switched off instead: what was decided while it held stays explained.
        return False


@admin.register(Override)
class OverrideAdmin(AppendOnlyAdmin):
    list_display = ("profile", "seq", "capability", "value", "source", "actor", "proposed", "created_at")
    list_filter = ("source", "capability", "proposed")
    list_select_related = ("profile__server", "actor")


@admin.register(Detection)
class DetectionAdmin(AppendOnlyAdmin):
    list_display = ("profile", "kind", "status", "verdict", "trigger", "actor", "created_at", "finished_at")
    list_filter = ("kind", "status", "verdict", "trigger")
    list_select_related = ("profile__server", "actor")


@admin.register(Trial)
class TrialAdmin(AppendOnlyAdmin):
    list_display = ("detection", "seq", "step", "n", "passed", "why", "status", "duration_ms")
    list_filter = ("step", "passed")
    list_select_related = ("detection__profile__server",)


@admin.register(TeamExam)
class TeamExamAdmin(AppendOnlyAdmin):
    list_display = ("name", "made_by", "created_at")
    list_select_related = ("made_by",)


@admin.register(TeamCase)
class TeamCaseAdmin(AppendOnlyAdmin):
    list_display = ("exam", "name", "version", "changed_by", "changed_at")
    list_select_related = ("exam", "changed_by")


@admin.register(ExamPaper)
class ExamPaperAdmin(AppendOnlyAdmin):
    list_display = ("suite", "digest", "created_at")


@admin.register(ExamRun)
class ExamRunAdmin(AppendOnlyAdmin):
    list_display = ("profile", "paper", "status", "verdict", "trigger", "actor", "created_at", "finished_at")
    list_filter = ("status", "verdict", "trigger")
    list_select_related = ("profile__server", "paper", "actor")


@admin.register(ExamTrial)
class ExamTrialAdmin(AppendOnlyAdmin):
    list_display = ("run", "case", "format", "n", "right", "code", "duration_ms")
    list_filter = ("group", "right")
    list_select_related = ("run",)


@admin.register(HistoryEntry)
class HistoryEntryAdmin(AppendOnlyAdmin):
    exclude = ("facet",)
    list_display = ("at", "kind", "profile", "capability", "before", "after", "source", "verdict", "actor")
    list_filter = ("kind", "source", "verdict")
    list_select_related = ("profile__server", "actor")
    show_full_result_count = False


@admin.register(HistoryFacet)
class HistoryFacetAdmin(AppendOnlyAdmin):
    list_display = ("kind", "source", "verdict", "depth")


@admin.register(Review)
class ReviewAdmin(AppendOnlyAdmin):
    list_display = ("override", "detection", "reviewer", "decision", "created_at")
    list_filter = ("decision",)
    list_select_related = ("override__profile__server", "detection__profile__server", "reviewer")


@admin.register(ProvenCall)
class ProvenCallAdmin(AppendOnlyAdmin):
    list_display = ("build_key", "tool", "arguments", "proven_at")
    list_filter = ("tool",)


@admin.register(CallMetric)
class CallMetricAdmin(AppendOnlyAdmin):
    list_display = ("profile", "format", "outcome", "day", "calls", "latency_ms", "tokens")
    list_filter = ("outcome", "format")
    list_select_related = ("profile",)


@admin.register(ReplyTime)
class ReplyTimeAdmin(AppendOnlyAdmin):
    list_display = ("profile", "format", "day", "step", "replies")


@admin.register(PromptCount)
class PromptCountAdmin(AppendOnlyAdmin):
    list_display = ("build_key", "tools_digest", "characters", "tokens", "counted_at")


@admin.register(Setting)
class SettingAdmin(AppendOnlyAdmin):
    # Values are left out: one of them is the hash of the set-up token.
    list_display = ("key", "changed_at")
    fields = ("key", "changed_at")


@admin.register(Lease)
class LeaseAdmin(AppendOnlyAdmin):
    list_display = ("name", "owner", "until")


@admin.register(SqlSource)
class SqlSourceAdmin(AppendOnlyAdmin):  # databases are defined on their own page
    list_display = ("name", "kind", "enabled", "looked_at", "why")
    list_filter = ("kind", "enabled")
    fields = ("name", "kind", "enabled", "groups", "tables", "looked_at", "why", "created_at")

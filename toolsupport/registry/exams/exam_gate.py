"""Decides by the exams of a model's present build whether it may take over."""

from __future__ import annotations

from dataclasses import dataclass

from toolsupport.core.types import ChatSettings, ToolSpec
from toolsupport.models import ExamRun, ModelProfile
from toolsupport.registry.exams.exam_runs import IN_FORCE
from toolsupport.registry.models import request_context

DECIDED = ("passed", "failed")
# Any tool shows in which format a chat with the model would get its tools.
PROBE = ToolSpec("list_directory", "Lists a folder.")


@dataclass(frozen=True, slots=True)
class ExamStanding:
    """The newest decided exam of the present build, in the format in force. `run` is None without one.

    `format` is the call format in which it was made.
    """

    run: int | None = None
    verdict: str = ""
    format: str = ""


def standing(profile: ModelProfile, suite: str = "") -> ExamStanding:
    """Return the newest decided exam of this build: of one suite by its name, or of any."""
    rows = ExamRun.objects.filter(
        profile=profile, build_key=profile.build.key, status="done", verdict__in=DECIDED
    ).order_by("-id")
    if suite:
        rows = rows.filter(paper__suite=suite)
    for run, verdict, formats, detail in rows.values_list("pk", "verdict", "formats", "detail")[:20]:
        if IN_FORCE in formats:
            used = (detail.get("formats", {}).get(IN_FORCE) or {}).get("used", "")
            return ExamStanding(run, verdict, used)
    return ExamStanding()


def why_not(profile: ModelProfile, strict: bool) -> str:
    """Return why a model may not take over where only validated models may, as a key of model_fallbacks.SKIPPED."""
    if not strict:
        return ""
    found = standing(profile)
    if found.run is None:
        return "no_exam"
    if found.verdict != "passed":
        return "failed_exam"
    return "other_format" if found.format != format_in_force(profile) else ""


def format_in_force(profile: ModelProfile) -> str:
    """Return the call format that chats with this model use."""
    offered = request_context.offer([PROBE])
    return request_context.for_profile(profile, offered, ChatSettings()).request_spec.format

"""Decides by the exams of a model's current build whether it may replace another, and queues the exam that it needs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from django.db.models import QuerySet

from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.exams import exam_report
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.cases import ExamSuite
from toolsupport.core.types import ChatSettings, ToolSpec
from toolsupport.models import ExamRun, ModelProfile
from toolsupport.registry.exams import exam_runs, team_exams
from toolsupport.registry.exams.exam_runs import IN_FORCE, ExamRequest
from toolsupport.registry.models import request_context

DECIDED = ("passed", "failed")
# Any tool is enough to find the format in which a chat with the model would get its tools.
PROBE = ToolSpec("list_directory", "Lists a folder.")
# The options of a model: the exam that each build must pass, and the build that a person lets answer without it.
REQUIRED, WAIVED = "required_exam", "exam_waived"
TRIGGER = "drift"  # such a run waits until its server is idle
TRIES = 3  # runs for one build that decide nothing


@dataclass(frozen=True, slots=True)
class ExamGate:
    """The required exam of a model. `state` is "" without one, or passed, waived, failed, waits or other_format.

    `run` is the exam that decides, or the one that is open; `failed` names the groups that it failed.
    """

    suite: str = ""
    state: str = ""
    run: int | None = None
    failed: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Whether the present build may not take over yet."""
        return self.state in ("failed", "waits", "other_format")


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
        profile=profile, build_key=profile.build.key, status="done", verdict__in=DECIDED, swap_from=None
    ).order_by("-id")
    if suite:
        rows = rows.filter(paper__suite=suite)
    for run, verdict, formats, detail in rows.values_list("pk", "verdict", "formats", "detail")[:20]:
        if IN_FORCE in formats:
            used = (detail.get("formats", {}).get(IN_FORCE) or {}).get("used", "")
            return ExamStanding(run, verdict, used)
    return ExamStanding()


def why_not(profile: ModelProfile, strict: bool) -> str:
    """Return why a model may not take over, as a key of model_fallbacks.SKIPPED.

    A required exam counts always; another one where only validated models may take over (`strict`).
    """
    required = gate(profile)
    if required.state:
        return {"failed": "failed_exam"}.get(required.state, required.state) if required.open else ""
    if not strict:
        return ""
    found = standing(profile)
    if found.run is None:
        return "no_exam"
    if found.verdict != "passed":
        return "failed_exam"
    return "other_format" if found.format != format_in_force(profile) else ""


def gate(profile: ModelProfile) -> ExamGate:
    """Return the state of the required exam for the present build and call format."""
    suite = str(profile.options.get(REQUIRED) or "")
    if not suite:
        return ExamGate()
    found = standing(profile, suite)
    if profile.options.get(WAIVED) == profile.build.key:
        return ExamGate(suite, "waived", found.run)
    if found.run is None:
        waiting = _runs(profile, suite).filter(status__in=exam_runs.OPEN).values_list("pk", flat=True).first()
        return ExamGate(suite, "waits", waiting)
    if found.format != format_in_force(profile):
        return ExamGate(suite, "other_format", found.run)
    failed = () if found.verdict == "passed" else _failed(found.run)
    return ExamGate(suite, "passed" if found.verdict == "passed" else "failed", found.run, failed)


def _failed(run: int) -> tuple[str, ...]:
    """Return the groups that a run failed, in words."""
    detail = ExamRun.objects.values_list("detail", flat=True).get(pk=run)
    return tuple(word for part in exam_report.parts(detail) for word in part["failed_words"])


def suite_named(name: str) -> ExamSuite:
    """Return a built-in exam or one of the team. Raises NotFound, ConfigError if it has no cases."""
    return SUITES.get(name) or team_exams.suite(name)


def open_required(server_id: int | None = None) -> int:
    """Queue the required exams that no run of the present build and format has decided; return how many.

    Runs that a person cancelled, or that often decided nothing, are not repeated.
    """
    rows = ModelProfile.objects.select_related("server").filter(gone_since=None, enabled=True, server__enabled=True)
    rows = rows.filter(server=server_id) if server_id else rows
    return sum(_opened(row) for row in rows if row.options.get(REQUIRED))


def _opened(profile: ModelProfile) -> bool:
    found = gate(profile)
    if found.state not in ("waits", "other_format"):
        return False
    made = list(_runs(profile, found.suite).filter(trigger=TRIGGER).values_list("status", flat=True))
    if len(made) >= TRIES or {"cancelled", *exam_runs.OPEN} & set(made):
        return False
    with suppress(Busy, ConfigError, NotFound):
        exam_runs.open_run(ExamRequest(profile.pk, suite_named(found.suite), (IN_FORCE,), TRIGGER))
        return True
    return False


def _runs(profile: ModelProfile, suite: str) -> QuerySet[ExamRun]:
    rows = ExamRun.objects.filter(profile=profile, build_key=profile.build.key, paper__suite=suite, swap_from=None)
    return rows.order_by("-pk")


def format_in_force(profile: ModelProfile) -> str:
    """Return the call format that chats with this model use."""
    offered = request_context.offer([PROBE])
    return request_context.for_profile(profile, offered, ChatSettings()).request_spec.format

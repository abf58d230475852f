"""Finds the next steps after an exam that was not passed, and takes those that are settings of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.exams import next_steps
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.next_steps import ExamFindings
from toolsupport.core.types import JSON
from toolsupport.models import ExamRun, ExamTrial, ModelProfile, TeamExam
from toolsupport.registry.settings import context_sizes, model_settings

NOT_PASSED = ("failed", "inconclusive")
NEEDED = 0.8  # the share of right cases that passes an exam
SHORT_PROMPT = "minimal_system"
GONE = "This step no longer applies."


@dataclass(frozen=True, slots=True)
class NextStep:
    """A step after an exam: its code (a key of next_steps.STEPS), its sentence, and the formats to run the exam in."""

    code: str
    text: str
    formats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExamSteps:
    """The steps after a run, with the data of their buttons; none if it was passed or its build is no longer used."""

    run: int
    profile: int
    server: int
    model: str
    suite: str
    steps: tuple[NextStep, ...]


def of_run(run: int) -> ExamSteps | None:
    """Return the steps after a run."""
    return _steps(_ended().filter(pk=run).first())


def of_newest(runs: Sequence[ExamRun], build: str) -> ExamSteps | None:
    """Return the steps after the newest of a model's ended runs with this build; the newest run is the first."""
    return _steps(next((run for run in runs if run.build_key == build), None))


@transaction.atomic
def take(run: int, code: str) -> str:
    """Raise the context or use the short prompt, if that is a step of the run; return a notice.

    Raises NotFound, ConfigError.
    """
    if not ExamRun.objects.filter(pk=run).exists():
        raise NotFound("This exam does not exist.")
    row = _ended().filter(pk=run).first()
    found = _steps(row)
    if row is None or found is None or code not in TAKEN or code not in {step.code for step in found.steps}:
        raise ConfigError(GONE)
    return TAKEN[code](row.profile)


def _raise_context(profile: ModelProfile) -> str:
    window = context_sizes.window(profile)
    given = context_sizes.raise_to(profile.pk, window, window.larger[0]).given
    return f"The context is now {given:,} tokens. Run the exam again."


def _use_short_prompt(profile: ModelProfile) -> str:
    model_settings.save(profile.pk, replace(model_settings.of(profile), turn_context=SHORT_PROMPT))
    return "Requests with tools now use the short prompt. Run the exam again."


TAKEN = {"raise_context": _raise_context, "minimal_context": _use_short_prompt}


def _ended() -> Any:
    return ExamRun.objects.filter(status="done").select_related("profile__server", "paper").defer("paper__body")


def _steps(row: ExamRun | None) -> ExamSteps | None:
    if row is None or row.verdict not in NOT_PASSED or row.build_key != row.profile.build.key:
        return None
    found = _findings(row)
    made = [NextStep(code, next_steps.sentence(code, found), _formats(code, found)) for code in next_steps.steps(found)]
    suite = row.paper.suite
    if any(step.formats for step in made) and suite not in SUITES and not _of_team(suite):
        made = [step for step in made if not step.formats]
    return ExamSteps(row.pk, row.profile_id, row.profile.server_id, row.profile.name, suite, tuple(made))


def _formats(code: str, found: ExamFindings) -> tuple[str, ...]:
    if code == "native_format":
        return (next_steps.NATIVE,)
    return next_steps.other_formats(found) if code == "other_format" else ()


def _of_team(suite: str) -> bool:
    return TeamExam.objects.filter(name=suite, cases__isnull=False).exists()


def _findings(row: ExamRun) -> ExamFindings:
    profile, parts = row.profile, row.detail.get("formats", {}).values()
    larger = context_sizes.window(profile).larger
    return ExamFindings(
        failed=frozenset(group for part in parts for group in _failed(part)),
        formats=frozenset(part["used"] for part in parts) | {name for name in row.formats if name},
        kind=profile.server.kind,
        version=profile.server.version,
        failing=bool(row.detail.get("failing")),
        refused=ExamTrial.objects.filter(run=row, code="refused").exists(),
        lacks_flag=bool(profile.missing_flag),
        context=larger[0] if larger else 0,
        short=model_settings.of(profile).turn_context == SHORT_PROMPT,
    )


def _failed(part: JSON) -> list[str]:
    """Return the groups that failed; if the exam failed without one, those below the passing share."""
    if part["failed_groups"] or part["verdict"] != "failed":
        return list(part["failed_groups"])
    return [name for name, share in part["groups"].items() if share["score"] < NEEDED]

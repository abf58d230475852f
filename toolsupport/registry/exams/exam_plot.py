"""Reads how the grade of a model changed from build to build, for the plot on its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.core.types import JSON
from toolsupport.models import ExamRun, ModelProfile

MOST_BUILDS, MOST_RUNS = 20, 200
SHORT = 8


@dataclass(frozen=True, slots=True)
class BuildGrade:
    """The newest exam of one build: its best format, in percent, with the interval."""

    run: int
    build: str
    day: str
    percent: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class GradePlot:
    """The grades of the builds in one exam, oldest first, as SVG paths in a square of 100; `least`, `most` dashed."""

    suite: str
    grades: tuple[BuildGrade, ...]
    line: str
    least: str
    most: str


def ended(profile: ModelProfile) -> list[ExamRun]:
    """Return the newest ended runs of a model, newest first."""
    rows = (
        ExamRun.objects.filter(profile=profile, status="done", swap_from=None)
        .select_related("paper")
        .defer("paper__body")
    )
    found = list(rows.order_by("-id")[:MOST_RUNS])
    for row in found:
        row.profile = profile
    return found


def of_runs(rows: Sequence[ExamRun]) -> GradePlot | None:
    """Return the plot for the cases of the newest of these runs; None if fewer than two builds took these."""
    runs = [row for row in rows if row.detail.get("formats")]
    newest: dict[str, ExamRun] = {}
    for run in runs:
        if run.paper_id == runs[0].paper_id:
            newest.setdefault(run.build_key, run)
    grades = tuple(filter(None, map(_grade, [*newest.values()][:MOST_BUILDS])))[::-1]
    if len(grades) < 2:
        return None
    lines = ([getattr(one, name) for one in grades] for name in ("percent", "low", "high"))
    return GradePlot(runs[0].paper.suite, grades, *map(_path, lines))


def _grade(run: ExamRun) -> BuildGrade | None:
    parts: list[JSON] = [part for part in run.detail["formats"].values() if part.get("trials")]
    if not parts:
        return None
    best = max(parts, key=lambda part: part["score"])
    percent, low, high = (round(100 * share) for share in (best["score"], *best["interval"]))
    return BuildGrade(run.pk, run.build_key[:SHORT], run.created_at.date().isoformat(), percent, low, high)


def _path(percents: Sequence[int]) -> str:
    step = 100 / (len(percents) - 1)
    return "M" + "L".join(f"{round(at * step, 2):g} {100 - percent}" for at, percent in enumerate(percents))

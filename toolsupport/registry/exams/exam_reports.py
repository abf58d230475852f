"""Reads runs of exams for people and programs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Avg, Count, Max, Min, Sum

from toolsupport.core import left_out_settings
from toolsupport.core.errors import NotFound
from toolsupport.core.exams import exam_report
from toolsupport.core.exams.cases import ExamCase, read_suite
from toolsupport.core.exams.estimates import decided
from toolsupport.core.types import JSON, Role
from toolsupport.models import ExamRun, ExamTrial
from toolsupport.registry.exams.exam_runs import OPEN
from toolsupport.registry.knowledge.effective_values import display_name

SECONDS_A_CASE, TOKENS_A_CASE = 2.0, 700


@dataclass(frozen=True, slots=True)
class ShownExam:
    """A run for pages and programs. `swap_from` is the first model of a change, "" without one.

    `simulated`: the model is one of the Simulator's.
    """

    id: int
    profile: int
    model: str
    server: str
    suite: str
    swap_from: str
    build: str
    older: bool
    status: str
    verdict: str
    verdict_words: str
    formats: tuple[str, ...]
    planned: int
    graded: int
    detail: JSON
    actor: str
    created_at: str
    started_at: str
    finished_at: str
    seconds: float
    simulated: bool

    @property
    def open(self) -> bool:
        return self.status in OPEN

    @property
    def shares(self) -> list[JSON]:
        """The result of each format."""
        return list(self.detail.get("formats", {}).values())

    @property
    def percent(self) -> int:
        return int(100 * self.graded / self.planned) if self.planned else 0


@dataclass(frozen=True, slots=True)
class ShownCase:
    """One case in one format. `right` None: not decided. `left_out` are the settings that a server refused."""

    id: str
    group: str
    format: str
    right: bool | None
    passed: int
    trials: int
    why: str
    request: str
    left_out: tuple[str, ...] = ()

    @property
    def left_out_words(self) -> str:
        return left_out_settings.named(self.left_out)


@dataclass(frozen=True, slots=True)
class LeftOutSettings:
    """What servers refused in a run: sentences, those of each model once, and names by format and case."""

    sentences: list[str]
    by_case: Mapping[tuple[str, str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ExamCost:
    """The expected duration of a run in seconds, and its tokens; `measured`: by earlier trials of this model."""

    seconds: int
    tokens: int
    measured: bool


def shown(run: int) -> ShownExam:
    """Return a run. Raises NotFound."""
    row = _rows().filter(pk=run).first()
    if row is None:
        raise NotFound("This exam does not exist.")
    return _shown(row)


def listed(profile: int | None = None, most: int = 50) -> list[ShownExam]:
    """Return the newest runs, of one model or of all."""
    rows = _rows() if profile is None else _rows().filter(profile_id=profile)
    return [_shown(row) for row in rows.order_by("-id")[:most]]


def _rows() -> Any:
    return ExamRun.objects.select_related("profile__server", "swap_from__server", "actor", "paper").defer("paper__body")


def cases(run: int, left_out: Mapping[tuple[str, str], tuple[str, ...]] | None = None) -> list[ShownCase]:
    """Return the decided and open cases of a run, in the order of its paper, each with the reason of its last trial.

    `left_out` are the refused settings by format and case.
    """
    row = ExamRun.objects.select_related("paper").filter(pk=run).first()
    if row is None:
        raise NotFound("This exam does not exist.")
    made: dict[tuple[str, str], list[ExamTrial]] = {}
    for trial in row.trials.defer("replies").order_by("id"):
        made.setdefault((trial.asked_format, trial.case), []).append(trial)
    listed_cases = read_suite(row.paper.body).cases
    keys = [(asked, case) for case in listed_cases for asked in row.formats]
    return [
        replace(_case(case, asked, made.get((asked, case.id), [])), left_out=(left_out or {}).get((asked, case.id), ()))
        for asked, case in keys
    ]


def _case(case: ExamCase, asked: str, trials: Sequence[ExamTrial]) -> ShownCase:
    rights = [trial.right for trial in trials]
    outcome = decided(rights)
    telling = next((one for one in reversed(trials) if one.right is outcome), trials[-1] if trials else None)
    return ShownCase(
        id=case.id,
        group=case.group,
        format=telling.format if telling else asked,
        right=outcome,
        passed=rights.count(True),
        trials=len(trials),
        why=exam_report.sentence(telling.code, telling.facts) if telling else "",
        request=next((one.content for one in case.messages if one.role == Role.USER), ""),
    )


def right_so_far(run: int) -> int:
    """Return how many cases of a run were right so far."""
    return ExamTrial.objects.filter(run_id=run, right=True).values("asked_format", "case").distinct().count()


def left_out(run: ShownExam) -> LeftOutSettings:
    """Return the settings that servers refused during a run."""
    sentences: list[str] = []
    by_case: dict[tuple[str, str], tuple[str, ...]] = {}
    found: dict[str, set[str]] = {}
    rows = ExamTrial.objects.filter(run_id=run.id).order_by("id").values_list("asked_format", "case", "replies")
    for asked_format, case, replies in rows.iterator():
        for model, refused in _refused(run, replies):
            key = (asked_format, case)
            by_case[key] = tuple(dict.fromkeys((*by_case.get(key, ()), *refused["settings"])))
            if not found.setdefault(model, set()).issuperset(refused["settings"]):
                found[model].update(refused["settings"])
                sentences.append(left_out_settings.worded(model, **refused))
    return LeftOutSettings(sentences, by_case)


def left_out_of_trial(run: ShownExam, trial: ExamTrial) -> list[str]:
    """Return the sentences about the settings that a server refused in one trial, each once."""
    found = [left_out_settings.worded(model, **refused) for model, refused in _refused(run, trial.replies)]
    return list(dict.fromkeys(found))


def _refused(run: ShownExam, replies: Sequence[JSON]) -> list[tuple[str, JSON]]:
    """Return the refused settings of each reply, with its model."""
    return [(reply.get("model", run.model), reply["left_out"]) for reply in replies if reply.get("left_out")]


def trials(run: int, case: str) -> list[ExamTrial]:
    """Return the trials of one case with what the model wrote."""
    return list(ExamTrial.objects.filter(run_id=run, case=case).order_by("id"))


def body(run: int, case: str) -> ExamCase:
    """Return the case as it was sent. Raises NotFound."""
    row = ExamRun.objects.select_related("paper").filter(pk=run).first()
    found = [one for one in read_suite(row.paper.body).cases if one.id == case] if row else []
    if not found:
        raise NotFound("This exam has no such case.")
    return found[0]


def cost(profile: int, number: int) -> ExamCost:
    """Estimate the cost of `number` cases with this model, by its earlier trials."""
    return costs(profile, [number])[0]


def costs(profile: int, numbers: Sequence[int]) -> list[ExamCost]:
    """Do the same for several numbers of cases."""
    made = ExamTrial.objects.filter(run__profile_id=profile).aggregate(
        tried=Count("pk"), ms=Avg("duration_ms"), spent=Sum("prompt_tokens") + Sum("output_tokens")
    )
    if not made["tried"]:
        return [ExamCost(round(one * SECONDS_A_CASE), one * TOKENS_A_CASE, measured=False) for one in numbers]
    each, spent = made["ms"] / 1000 / 4, (made["spent"] or 0) / made["tried"]
    return [ExamCost(max(1, math.ceil(one * each)), round(one * spent), measured=True) for one in numbers]


def to_json(run: int) -> JSON:
    """Return a run as JSON (SPEC E10)."""
    found = shown(run)
    parts = found.detail.get("formats", {})
    best: JSON = max(parts.values(), key=lambda part: part["score"], default={})
    return {
        "model": f"{found.server}/{found.model}",
        "build": found.build,
        "suite": found.suite,
        **({"swap_from": found.swap_from} if found.swap_from else {}),
        "verdict": found.verdict or found.status,
        "score": best.get("score"),
        "interval": best.get("interval"),
        "groups": {
            group: {"right": share["right"], "trials": share["trials"]}
            for group, share in best.get("groups", {}).items()
        },
        "formats": parts,
        "cases": [
            {
                "id": case.id,
                "group": case.group,
                "format": case.format,
                "right": case.passed,
                "trials": case.trials,
                "why": case.why,
                "settings_left_out": list(case.left_out),
            }
            for case in cases(run, left_out(found).by_case)
        ],
    }


def _shown(row: ExamRun) -> ShownExam:
    times = row.trials.aggregate(first=Min("created_at"), last=Max("created_at"))
    spent = (times["last"] - times["first"]).total_seconds() if times["last"] else 0.0
    return ShownExam(
        id=row.pk,
        profile=row.profile_id,
        model=row.profile.name,
        server=row.profile.server.name,
        suite=row.paper.suite,
        swap_from=f"{row.swap_from.server.name}/{row.swap_from.name}" if row.swap_from else "",
        build=row.build_key,
        older=row.build_key != row.profile.build.key,
        status=row.status,
        verdict=row.verdict,
        verdict_words=exam_report.VERDICTS.get(row.verdict, ""),
        formats=tuple(row.formats),
        planned=row.planned,
        graded=row.graded,
        detail=row.detail,
        actor=display_name(row.actor),
        created_at=row.created_at.isoformat(),
        started_at=row.started_at.isoformat() if row.started_at else "",
        finished_at=row.finished_at.isoformat() if row.finished_at else "",
        seconds=round(spent, 1),
        simulated=row.profile.server.kind == "simulator",
    )

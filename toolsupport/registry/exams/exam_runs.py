"""Stores the runs of exams: queued by people, run by one process at a time, resumed after a process ended."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.exams import exam_report
from toolsupport.core.exams.cases import ExamCase, ExamSuite, read_suite
from toolsupport.core.exams.estimates import TrialGrade
from toolsupport.core.format_choice import CODE
from toolsupport.core.formats import FORMATS
from toolsupport.core.types import JSON
from toolsupport.models import ExamPaper, ExamRun, ExamTrial, ModelProfile
from toolsupport.registry import leases
from toolsupport.registry.models import picker
from toolsupport.registry.servers import server_slots
from toolsupport.registry.settings import switches

LEASE = timedelta(seconds=30)
OPEN = ("queued", "running")
MOST_OPEN = 20  # runs that one person may have open
MOST_FORMATS = 8
# An exam never runs programs of models.
FORMATS_OF_EXAMS = ("native", *(name for name in FORMATS if name != CODE))
IN_FORCE = ""  # the format that chats with the model use


@dataclass(frozen=True, slots=True)
class ExamRequest:
    """A request for a run. `formats` are names of call formats, or IN_FORCE; `actor` is a person's id.

    `swap_from` is the model (id) that makes the first calls of each case, before the change to this one.
    """

    profile: int
    suite: ExamSuite
    formats: tuple[str, ...] = (IN_FORCE,)
    trigger: str = "page"
    actor: int | None = None
    swap_from: int | None = None


@dataclass(frozen=True, slots=True)
class ClaimedExam:
    """A run that this process runs now, with the trials that are made already (by format, in order).

    `servers` are those of its models.
    """

    id: int
    profile: int
    swap_from: int | None
    servers: frozenset[int]
    build: str
    cases: tuple[ExamCase, ...]
    formats: tuple[str, ...]
    made: Mapping[tuple[str, str], tuple[bool | None, ...]]


@dataclass(frozen=True, slots=True)
class ExamTrialRecord:
    """One graded trial, redacted. `asked_format` is one of the run's formats, `format` the one that was used."""

    asked_format: str
    format: str
    case: str
    group: str
    n: int
    right: bool | None
    code: str
    facts: JSON
    replies: list[JSON]
    duration_ms: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0


def open_run(asked: ExamRequest) -> int:
    """Queue a run, or return the open one of the same cases. Raises NotFound, ConfigError, Busy."""
    if not switches.in_force().detects:
        raise ConfigError("An administrator has turned off tests of models.")
    profile = _model(asked.profile)
    before = _model(asked.swap_from) if asked.swap_from else None
    formats = _formats(asked.formats)
    mine = ExamRun.objects.filter(actor_id=asked.actor, status__in=OPEN)
    if asked.actor is not None and mine.count() >= MOST_OPEN:
        raise Busy(f"You have {MOST_OPEN} open exams, the maximum.", "exams")
    suite = asked.suite if before is None else _swapped(asked.suite, profile, before)
    paper = _paper(suite, before)
    row = ExamRun(
        profile=profile,
        build_key=profile.build.key,
        paper=paper,
        formats=list(formats),
        swap_from=before,
        trigger=asked.trigger,
        actor_id=asked.actor,
        planned=len(suite.cases) * len(formats),
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        found = ExamRun.objects.filter(build_key=row.build_key, paper=paper, status__in=OPEN).first()
        return found.pk if found else open_run(asked)
    return row.pk


def _model(profile: int) -> ModelProfile:
    """Return a model that can take an exam. Raises NotFound, ConfigError."""
    row = ModelProfile.objects.select_related("server").filter(pk=profile).first()
    if row is None:
        raise NotFound("This model does not exist.")
    if not row.chats:
        raise ConfigError(picker.NO_CHAT.format(model=row.name))
    return row


def _swapped(suite: ExamSuite, profile: ModelProfile, before: ModelProfile) -> ExamSuite:
    """Return the cases in which a call can be handed over: those that expect one. Raises ConfigError."""
    if before.pk == profile.pk:
        raise ConfigError("Choose two different models: the model is changed between a call and its result.")
    cases = tuple(case for case in suite.cases if case.expected)
    if not cases:
        raise ConfigError("No case of this exam expects a call, so there is nothing to hand over to the second model.")
    return ExamSuite(suite.name, cases)


def _formats(names: Sequence[str]) -> tuple[str, ...]:
    """Return the formats, each once. Raises ConfigError."""
    unknown = next((name for name in names if name not in (IN_FORCE, *FORMATS_OF_EXAMS)), "")
    if unknown:
        raise ConfigError(f"There is no call format “{unknown}”. The formats are: {', '.join(FORMATS_OF_EXAMS)}.")
    chosen = tuple(dict.fromkeys(names)) or (IN_FORCE,)
    if len(chosen) > MOST_FORMATS:
        raise ConfigError(f"Choose at most {MOST_FORMATS} formats.")
    return chosen


def _paper(suite: ExamSuite, before: ModelProfile | None) -> ExamPaper:
    """Return the paper of these cases; a change of models has a paper of its own for each first model."""
    body = suite.to_json() | ({"swap_from": f"{before.server.name}/{before.name}"} if before else {})
    digest = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return ExamPaper.objects.get_or_create(digest=digest, defaults={"suite": suite.name, "body": body})[0]


def claim(owner: str, own: int | None = None, idle: Callable[[int], bool] = lambda server: True) -> ClaimedExam | None:
    """Claim the oldest run that waits or whose process is gone, one at a time on a server; `own`: only this one.

    A run that a change of the model asked for waits until its server (an id) is `idle`.
    """
    return _oldest(owner, own, idle) if leases.has_work(ExamRun) else None


@transaction.atomic
def _oldest(owner: str, own: int | None, idle: Callable[[int], bool]) -> ClaimedExam | None:
    """Claim the oldest run that may begin."""
    waits = Q(status="queued") | (Q(status="running") & leases.ran_out())
    rows = ExamRun.objects.filter(waits).order_by("id")
    busy = ExamRun.objects.filter(status="running").exclude(leases.ran_out())
    taken = set(busy.values_list("profile__server_id", flat=True))
    for row in (rows.filter(pk=own) if own else rows).select_related("profile", "swap_from", "paper")[:50]:
        if row.profile.server_id in taken or (row.trigger == "drift" and not idle(row.profile.server_id)):
            continue
        free = ExamRun.objects.filter(waits, pk=row.pk)
        started = {} if row.started_at else {"started_at": timezone.now()}
        if free.update(status="running", owner=owner, lease_until=leases.in_future(LEASE), **started):
            return _claimed(row)
    return None


def _claimed(row: ExamRun) -> ClaimedExam:
    made: dict[tuple[str, str], list[bool | None]] = {}
    for asked_format, case, right in row.trials.order_by("id").values_list("asked_format", "case", "right"):
        made.setdefault((asked_format, case), []).append(right)
    return ClaimedExam(
        id=row.pk,
        profile=row.profile_id,
        swap_from=row.swap_from_id,
        servers=frozenset(one.server_id for one in (row.profile, row.swap_from) if one is not None),
        build=row.build_key,
        cases=read_suite(row.paper.body).cases,
        formats=tuple(row.formats),
        made={key: tuple(rights) for key, rights in made.items()},
    )


def renew(run: int, owner: str, graded: int) -> bool:
    """Renew the leases and store the progress; False if the run was cancelled or another process has it."""
    server_slots.renew(server_slots.holder(owner, "exam", run))
    mine = ExamRun.objects.filter(pk=run, owner=owner, status="running")
    return bool(mine.update(lease_until=leases.in_future(LEASE), graded=graded))


@transaction.atomic
def add_trial(run: int, owner: str, trial: ExamTrialRecord, graded: int = 0) -> bool:
    """Store a trial, and how many cases are graded with it; False if this process no longer has the run."""
    mine = ExamRun.objects.select_for_update().filter(pk=run, owner=owner, status="running")
    if not mine.exists():
        return False
    mine.filter(graded__lt=graded).update(graded=graded)
    fields = {name: getattr(trial, name) for name in ExamTrialRecord.__slots__}
    ExamTrial.objects.create(run_id=run, **fields | {"facts": exam_report.stored(trial.facts)})
    return True


def conclude(run: int, owner: str, verdict: str, detail: Mapping[str, Any]) -> bool:
    """End a run with its verdict; False if this process no longer has it."""
    mine = ExamRun.objects.filter(pk=run, owner=owner, status="running")
    ended = {"status": "done", "verdict": verdict, "detail": dict(detail), "finished_at": timezone.now()}
    return bool(mine.update(**ended, lease_until=None))


def cancel(run: int) -> None:
    """Cancel a run; its process notices with its next write. Graded cases stay."""
    rows = ExamRun.objects.filter(pk=run, status__in=OPEN)
    rows.update(status="cancelled", finished_at=timezone.now(), lease_until=None)


def leave(owner: str) -> None:
    """Release the runs of this process, so that another one can continue at once."""
    ExamRun.objects.filter(owner=owner, status="running").update(lease_until=None)


def grades(run: int, asked_format: str | None = None) -> list[TrialGrade]:
    """Return the grades of a run in order, of one of its formats or of all."""
    rows = ExamTrial.objects.filter(run_id=run).order_by("id")
    if asked_format is not None:
        rows = rows.filter(asked_format=asked_format)
    return [TrialGrade(case, group, right) for case, group, right in rows.values_list("case", "group", "right")]

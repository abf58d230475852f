"""Stores tests of models: one open at a time for each build, claimed by a lease, ended by a verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from toolsupport.core import capability_reasons
from toolsupport.core.errors import Busy, ConfigError, Conflict, NotFound
from toolsupport.core.sentence_codes import joined
from toolsupport.core.sentences import sentence
from toolsupport.core.types import JSON
from toolsupport.models import Detection, ModelProfile, Override, Trial
from toolsupport.models.detections import OPEN
from toolsupport.registry import leases, row_cache, write_steps
from toolsupport.registry.knowledge import (
    drift_marks,
    effective_values,
    event_log,
    failed_format_removal,
    overrides,
    stale_tests,
)
from toolsupport.registry.models import picker
from toolsupport.registry.servers import missing_flags
from toolsupport.registry.settings import switches
from toolsupport.registry.testing import queue

PROVED = ("native", "text", "flaky", "ignored", "refused")  # verdicts on the model, not on its server's settings
MOST_AN_HOUR = 60  # tests that a person without the permission to decide for everyone may request
LEASE = leases.TEST  # renewed every 1.5 s; one that ran out means that its worker is gone
GONE = sentence("process_gone", seconds=round(LEASE.total_seconds()))
STOPPED = sentence("process_stopped")


@dataclass(frozen=True, slots=True)
class DetectionRequest:
    """A request to test a model. `actor` is a person's id, None for a machine."""

    profile: int
    trigger: str
    kind: str = "tools"
    actor: int | None = None


@dataclass(frozen=True, slots=True)
class OpenedDetection:
    """The test that will answer: `fresh` False if it was open already."""

    id: int
    fresh: bool


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One trial with its evidence, already redacted."""

    step: str
    n: int
    request: JSON
    response: JSON
    passed: bool | None
    why: str = ""
    status: int | None = None
    duration_ms: int = 0
    prompt_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class DetectionResult:
    """The end of a test. `values` are its measured capabilities; unmeasured ones are left out.

    `remaining`: steps of it follow, see later_steps.py.
    """

    verdict: str
    detail: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    values: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    reason: str = ""
    status: str = "done"
    load_ms: int | None = None
    run_ms: int | None = None
    remaining: bool = False


@dataclass(frozen=True, slots=True)
class DetectionSignals:
    """People's commands to a running test; `mine` False: another worker has it, stop at once."""

    mine: bool
    cancel: bool = False
    skip: str = ""


def open_test(asked: DetectionRequest) -> OpenedDetection:
    """Queue a test of the model in its present build, or return the open one.

    Raises NotFound, ConfigError if models may not be tested.
    """
    return open_tests([asked])[0]


def open_tests(wanted: Sequence[DetectionRequest], limited: bool = False) -> list[OpenedDetection]:
    """Queue many tests of one person. `limited`: no more than one person may request within an hour.

    Also raises Busy at the limit; the tests before that stay queued.
    """
    if not switches.in_force().detects:
        raise ConfigError("An administrator has turned off tests of models.")
    settle()
    profiles = ModelProfile.objects.select_related("server").in_bulk([asked.profile for asked in wanted])
    for asked in wanted:
        if asked.profile not in profiles:
            raise NotFound("This model does not exist.")
        if not profiles[asked.profile].chats:
            raise ConfigError(picker.NO_CHAT.format(model=profiles[asked.profile].name))
    left = MOST_AN_HOUR - _recent(wanted[0].actor) if limited and wanted else len(wanted)
    opened: list[OpenedDetection] = []
    fresh: list[int] = []

    def write(part: Sequence[DetectionRequest]) -> list[OpenedDetection]:
        return _open_part(part, profiles, left - len(fresh), fresh[:1])

    for part in write_steps.of_each(wanted, write):
        opened += part
        fresh += [test.id for test in part if test.fresh]
        if len(fresh) >= left and len(opened) < len(wanted):
            raise Busy(f"You have started {MOST_AN_HOUR} tests within an hour, the maximum.", "tests")
    return opened


@transaction.atomic
def _open_part(
    part: Sequence[DetectionRequest], profiles: Mapping[int, ModelProfile], left: int, first: Sequence[int]
) -> list[OpenedDetection]:
    """Queue tests until `left` are new. They are one entry of the history, with the `first` test of earlier parts."""
    # Locked in one order: two people who test the same models would wait for each other.
    overrides.lock(asked.profile for asked in part)
    opened: list[OpenedDetection] = []
    fresh = list(first)
    for asked in part:
        if len(fresh) - len(first) >= left:
            break
        opened.append(_open(asked, profiles[asked.profile]))
        fresh += [test.id for test in opened[-1:] if test.fresh]
    if len(fresh) > max(1, len(first)):
        Detection.objects.filter(pk__in=fresh).update(bulk_id=fresh[0])
    return opened


def _recent(actor: int | None) -> int:
    return Detection.objects.filter(actor_id=actor, created_at__gte=timezone.now() - timedelta(hours=1)).count()


def _open(asked: DetectionRequest, profile: ModelProfile) -> OpenedDetection:
    build = profile.build.key
    try:
        with transaction.atomic():
            row = Detection.objects.create(
                profile=profile, build_key=build, kind=asked.kind, trigger=asked.trigger, actor_id=asked.actor
            )
            return OpenedDetection(row.pk, fresh=True)
    except IntegrityError:
        # The constraint decides, not a check beforehand: so fifty people cause one test.
        open_ones = Detection.objects.filter(build_key=build, kind=asked.kind, status__in=OPEN)
        # A person's request does not wait until the server is idle.
        open_ones.filter(status="queued", trigger="drift").update(trigger=asked.trigger)
        found = open_ones.first()
        return OpenedDetection(found.pk, fresh=False) if found else _open(asked, profile)


def always(_: int) -> bool:
    """Treat every server as idle."""
    return True


def any_finished() -> bool:
    """Return whether any model of this site was ever tested to the end."""
    return row_cache.read(_any_finished)


def _any_finished() -> bool:
    return Detection.objects.filter(status="done").exists()


def claim(owner: str, idle: Callable[[int], bool] = always, running: Collection[int] = ()) -> int | None:
    """Claim the oldest queued test whose server has room for it; return its id, or None.

    A test after a change of its model waits until its server (id) is `idle`, and for all others. Tests `running` in
    this process are not settled.
    """
    return _claim(owner, idle, running) if leases.has_work(Detection) else None


@transaction.atomic
def _claim(owner: str, idle: Callable[[int], bool], running: Collection[int]) -> int | None:
    settle(running)
    for pk in queue.waiting(idle):
        free = Detection.objects.filter(pk=pk, status="queued")
        if free.update(status="running", owner=owner, lease_until=leases.in_future(LEASE), started_at=Now()):
            return pk
    return None


@transaction.atomic
def renew(detection: int, owner: str, progress: Sequence[JSON]) -> DetectionSignals:
    """Renew the lease, store the progress, return people's commands."""
    mine = Detection.objects.filter(pk=detection, owner=owner, status="running")
    if not mine.update(lease_until=leases.in_future(LEASE), progress=list(progress)):
        return DetectionSignals(mine=False)
    cancel, skip = mine.values_list("cancel_requested_at", "skip_requested").get()
    return DetectionSignals(mine=True, cancel=cancel is not None, skip=skip)


@transaction.atomic
def add_trial(detection: int, owner: str, trial: TrialRecord) -> bool:
    """Store the evidence of one trial; return False if another worker owns the test."""
    row = Detection.objects.select_for_update().filter(pk=detection, owner=owner, status="running").first()
    if row is None:
        return False
    append_trial(row, trial)
    return True


def append_trial(row: Detection, trial: TrialRecord) -> None:
    """Add a trial after the others of this test, whose row is locked."""
    seq = (row.trials.aggregate(newest=Max("seq"))["newest"] or 0) + 1
    Trial.objects.create(detection=row, seq=seq, **{name: getattr(trial, name) for name in TrialRecord.__slots__})


@transaction.atomic
def conclude(detection: int, owner: str, concluded: DetectionResult) -> bool:
    """End a test with its verdict; its measurements become claims for everyone. False if another worker owns it.

    The claims hold for the tested build: if the model changed meanwhile, none is made.
    """
    mine = Detection.objects.select_for_update().filter(pk=detection, owner=owner, status="running")
    row = mine.select_related("profile__server").first()
    if row is None:
        return False
    same_build = row.profile.build.key == row.build_key
    before = row.detail.get("before", effective_values.known(row.profile)["tools"].value)
    confirmed = measure(row, concluded.values, concluded.reason) if same_build else []
    formats = failed_format_removal.settle(row, str(concluded.values.get("format") or "")) if same_build else {}
    mine.update(
        status=concluded.status,
        verdict=concluded.verdict,
        detail={
            **concluded.detail,
            **formats,
            "reason": concluded.reason,
            "same_build": same_build,
            "confirmed": confirmed,
        },
        load_ms=concluded.load_ms,
        run_ms=concluded.run_ms,
        remaining=concluded.remaining and same_build,
        finished_at=Now(),
        lease_until=None,
    )
    _record_event(row, before, concluded, confirmed)
    _mark_server(row, concluded)
    if row.profile.drifted_since is not None:
        drift_marks.follow([row.profile], stale_tests.kinds([row.profile]))
    return True


def _mark_server(row: Detection, concluded: DetectionResult) -> None:
    """Store or remove that the model's server lacks a setting for tools."""
    lacks = concluded.verdict == "misconfigured"
    flag = str(concluded.detail.get("flag") or (concluded.reason if lacks else ""))
    if flag:
        missing_flags.missing(row.profile_id, flag)
    elif row.kind == "tools" and concluded.verdict in PROVED:
        missing_flags.solved(row.profile_id)


def measure(row: Detection, values: Mapping[str, Any], reason: str) -> list[str]:
    """Store a test's measurements as its claims; return the capabilities that only confirm an earlier test.

    Measurements that this test stored before its end stay as they are.
    """
    made = overrides.NewOverride(
        row.profile_id, "", None, "auto_detected", actor=row.actor_id, reason=reason, detection=row.pk
    )
    stored = dict(Override.objects.filter(detection=row, withdraws=None).values_list("capability", "value"))
    found = [(name, value) for name, value in values.items() if name not in stored or stored[name] != value]
    return [name for name, value in found if not overrides.measure(replace(made, capability=name, value=value))]


@transaction.atomic
def cancel(detection: int) -> str:
    """Request to cancel a test; return its present status. A queued one ends at once. Raises NotFound."""
    if Detection.objects.filter(pk=detection, status="queued").update(status="cancelled", finished_at=Now()):
        return "cancelled"
    Detection.objects.filter(pk=detection, status="running").update(cancel_requested_at=Now())
    return _status(detection)


def skip(detection: int, step: str) -> None:
    """Request to skip the step ("": the running one); a finished one stays. Raises NotFound."""
    _status(detection)
    if not step:
        progress = Detection.objects.values_list("progress", flat=True).get(pk=detection)
        step = next((one["step"] for one in progress if one["state"] == "running"), "")
    Detection.objects.filter(pk=detection, status="running").update(skip_requested=step)


def cancel_bulk(actor: int) -> None:
    """Cancel the open tests of one person's bulk."""
    mine = Detection.objects.filter(actor_id=actor, trigger="bulk")
    mine.filter(status="queued").update(status="cancelled", finished_at=Now())
    mine.filter(status="running").update(cancel_requested_at=Now())


@transaction.atomic
def undo(detection: int, actor: int | None) -> int:
    """Withdraw the measurements of a test that has ended; return the number of claims. Raises NotFound, Conflict."""
    if (status := _status(detection)) in OPEN:
        raise Conflict("This test has not ended.", f"It is {status}.")
    Detection.objects.filter(pk=detection).update(remaining=False)
    withdrawn = overrides.withdraw_test(detection, actor)
    if withdrawn and switches.in_force().on_drift != "off":
        profile = Detection.objects.select_related("profile__server").get(pk=detection).profile
        drift_marks.follow([profile], stale_tests.kinds([profile]) if profile.chats else ())
    return withdrawn


@transaction.atomic
def leave(owner: str, own: int | None = None) -> None:
    """End the tests of a worker that stops. One that was started for its `own` test requeues the others.

    A repeated test must prove everything again: the trials of an unfinished attempt are dropped.
    """
    mine = Detection.objects.filter(owner=owner, status="running")
    if own is not None:
        others = list(mine.select_for_update().exclude(pk=own).values_list("pk", flat=True))
        Trial.objects.filter(detection__in=others).delete()
        waits: dict[str, Any] = {
            "status": "queued",
            "owner": "",
            "lease_until": None,
            "started_at": None,
            "progress": [],
        }
        Detection.objects.filter(pk__in=others).update(**waits)
    _interrupt(mine, STOPPED)


def settle(running: Collection[int] = ()) -> int:
    """Mark tests whose lease has expired as `interrupted`; return how many.

    Those `running` in this process are alive, even if the database accepted no renewal for some time.
    """
    gone = Detection.objects.filter(leases.ran_out()).exclude(pk__in=running)
    # Read first: every process does this each second, and on SQLite even an update of no row makes writers wait.
    return _interrupt(gone, GONE) if gone.filter(status="running").exists() else 0


def _interrupt(tests: QuerySet[Detection], why: str) -> int:
    """End the running ones of `tests` with a verdict: nothing was proved, and the reason."""
    ended = {"status": "interrupted", "verdict": "inconclusive", "detail": {"why": why, "reason": why}}
    return tests.filter(status="running").update(**ended, finished_at=Now(), lease_until=None)


def _status(detection: int) -> str:
    found = Detection.objects.filter(pk=detection).values_list("status", flat=True).first()
    if found is None:
        raise NotFound("This test does not exist.")
    return found


def _record_event(row: Detection, before: Any, concluded: DetectionResult, confirmed: Sequence[str]) -> None:
    again = sentence("confirmed", capabilities=[*map(capability_reasons.label, confirmed)]) if confirmed else ""
    entry = event_log.record(
        event_log.HistoryEvent(
            "detection",
            row.profile_id,
            "tools",
            before,
            effective_values.known(row.profile)["tools"].value,
            source="auto_detected",
            verdict=concluded.verdict,
            actor=row.actor_id,
            text=joined(concluded.reason, again),
            detection=row.pk,
            bundle=event_log.bundle_of_tests(row.bulk_id),
        )
    )
    event_log.lead_findings(row.pk, entry)

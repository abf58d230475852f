"""Reads tests of models for pages, commands and the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Avg, Case, Count, Max, Q, QuerySet, Value, When

from toolsupport.core.errors import NotFound
from toolsupport.core.sentences import sentence
from toolsupport.core.types import JSON
from toolsupport.core.verdicts import VERDICTS
from toolsupport.models import Detection, HistoryEntry, ModelProfile, Override, Trial
from toolsupport.models.detections import OPEN
from toolsupport.registry.knowledge import failed_format_removal
from toolsupport.registry.knowledge.effective_values import display_name
from toolsupport.registry.models import picker, profiles
from toolsupport.registry.testing import queue


@dataclass(frozen=True, slots=True)
class UndoReport:
    """The effect of undoing a test: (what, before, after) of each changed value; `why` if none changed."""

    actor: str
    at: str
    changes: tuple[tuple[str, str, str], ...]
    why: str


@dataclass(frozen=True, slots=True)
class ShownDetection:
    """One test. `steps` are [{step, title, state, detail}] in order; times are ISO 8601, "" if not set.

    `older`: its model has another build by now. `undone` is read for pages only. `place` is its position in its
    server's queue, 0 if it does not wait. `later`: steps of it are still to come, after its verdict.
    """

    id: int
    profile: int
    model: str
    server: str
    kind: str
    status: str
    verdict: str
    verdict_words: str
    reason: str
    detail: JSON
    steps: list[JSON]
    actor: str
    created_at: str
    finished_at: str
    load_ms: int | None
    run_ms: int | None
    older: bool = False
    undone: UndoReport | None = None
    place: int = 0
    later: bool = False

    @property
    def open(self) -> bool:
        return self.status in OPEN

    @property
    def pull(self) -> str:
        """How to pull a model that can call tools, if this one cannot; else ""."""
        return f"ollama pull {picker.RECOMMENDED[0]}" if self.verdict in ("refused", "ignored") else ""

    @property
    def proved(self) -> bool:
        """Whether it proves anything about the model."""
        left = bool(self.detail.get("left_somewhere"))
        return self.status == "done" and (left or self.verdict not in ("inconclusive", "misconfigured"))


@dataclass(frozen=True, slots=True)
class ShownTrial:
    """One trial with its evidence."""

    seq: int
    step: str
    n: int
    passed: bool | None
    why: str
    request: JSON
    response: JSON
    status: int | None
    duration_ms: int
    prompt_tokens: int | None
    output_tokens: int | None


def shown(detection: int) -> ShownDetection:
    """Return one test. Raises NotFound."""
    row = Detection.objects.select_related("profile__server", "actor").filter(pk=detection).first()
    if row is None:
        raise NotFound("This test does not exist.")
    return replace(of_row(row), undone=_undone(row.pk))


def _undone(test: int) -> UndoReport | None:
    """Return how this test was undone, None if it was not: one query.

    A test may withdraw rows itself, such as a chat's choice of a format; the lines about that name the row.
    """
    undone = HistoryEntry.objects.filter(detection=test, kind="withdrawal", override=None)
    found: UndoReport | None = None
    for line in undone.select_related("actor").order_by("pk"):
        before, after = (profiles.state_and_words(line.capability, value)[1] for value in (line.before, line.after))
        found = found or UndoReport(display_name(line.actor), line.at.isoformat(), (), "")
        if line.before == line.after:
            found = replace(found, why=line.text)
        else:
            found = replace(found, changes=(*found.changes, (profiles.title(line.capability), before, after)))
    return found


def expected_seconds(profile: ModelProfile) -> int:
    """Return how long a test of this model takes: that of its last test, else of its server's; 5 without any."""
    done = Detection.objects.filter(kind="tools", status="done", run_ms__gt=0, profile__server=profile.server_id)
    own_first = Case(When(profile=profile.pk, then=0), default=1)
    took = done.order_by(own_first, "-pk").values_list("run_ms", flat=True).first()
    return max(1, round((took or 5000) / 1000))


@dataclass(frozen=True, slots=True)
class BulkProgress:
    """The progress of a person's bulk of tests; `left` in seconds. Of `later` tests a step follows the verdicts.

    `by` is the person if that is not the reader, or "A program".
    """

    since: int
    done: int
    total: int
    left: int
    seen: str = ""
    later: int = 0
    running: int = 0
    cancelled: int = 0
    by: str = ""

    @property
    def open(self) -> bool:
        return self.done < self.total

    @property
    def ending(self) -> bool:
        """Whether the rest was cancelled, and only running tests are still open."""
        return self.open and self.cancelled > 0 and self.total - self.done == self.running

    @property
    def tested(self) -> int:
        return self.done - self.cancelled


# Several servers often share a machine, so more than two tests at once are hardly quicker.
SECONDS_EACH, AT_ONCE = 5.0, 2


def bulk(reader: int | None, since: int = 0) -> BulkProgress | None:
    """Return the bulk to which the test `since` belongs; without it, the open one of the reader, else of another."""
    lead = _lead(reader, since)
    if lead is None:
        return None
    first, over = since or _first_beside(lead), ~Q(status__in=OPEN)
    mine = _bulks_of(lead.actor_id)
    found = mine.filter(pk__gte=first).aggregate(
        total=Count("pk"),
        done=Count("pk", filter=over),
        each=Avg("run_ms", filter=over),
        running=Count("pk", filter=Q(status="running")),
        later=Count("pk", filter=Q(remaining=True)),
        cancelled=Count("pk", filter=Q(status="cancelled")),
    )
    each = found["each"] / 1000 if found["each"] else SECONDS_EACH
    rounds = queue.rounds(mine.filter(pk__gte=first).values_list("pk", flat=True))
    still = max(rounds, (found["total"] - found["done"]) / max(AT_ONCE, found["running"]))
    return BulkProgress(
        since=first,
        done=found["done"],
        total=found["total"],
        left=round(still * each),
        seen=_stage(found),
        later=found["later"],
        running=found["running"],
        cancelled=found["cancelled"],
        by="" if lead.actor_id == reader else display_name(lead.actor) or "A program",
    )


def _bulks_of(actor: int | None) -> QuerySet[Detection]:
    return Detection.objects.filter(actor_id=actor, trigger="bulk")


def _lead(reader: int | None, since: int) -> Detection | None:
    """Return the test of this id, else the oldest open one of a bulk, first of those of the reader."""
    tests = Detection.objects.filter(trigger="bulk").select_related("actor")
    if since:
        return tests.filter(pk=since).first()
    own_first = Case(When(actor=reader, then=0), default=1) if reader else Value(1)
    return tests.filter(status__in=OPEN).order_by(own_first, "pk").first()


def stage(since: int) -> str:
    """Return the stage of the bulk with this test: it changes when a test of it begins or ends."""
    owner = Detection.objects.filter(pk=since).values_list("actor_id", flat=True).first()
    over, running = Count("pk", filter=~Q(status__in=OPEN)), Count("pk", filter=Q(status="running"))
    counted = {"done": over, "running": running, "later": Count("pk", filter=Q(remaining=True))}
    return _stage(_bulks_of(owner).filter(pk__gte=since).aggregate(**counted))


def overall_stage() -> str:
    """Return a mark that changes when any test begins or ends."""
    open_ones = Count("pk", filter=Q(status__in=OPEN))
    found = Detection.objects.order_by().aggregate(newest=Max("pk"), open=open_ones)
    return f"{found['newest'] or 0}-{found['open']}"


def _stage(counted: Mapping[str, int]) -> str:
    return "-".join(str(counted[name]) for name in ("done", "running", "later"))


def began(actor: int | None, test: int = 0) -> int:
    """Return the first test (id) of the person's open bulk, which this test joins; without one, the test itself.

    Tests that were open when the oldest open one was queued belong to the bulk, so that a reload counts as before.
    """
    oldest = _bulks_of(actor).filter(status__in=OPEN).order_by("pk").first()
    return _first_beside(oldest) if oldest else test


def _first_beside(oldest: Detection) -> int:
    mine = _bulks_of(oldest.actor_id).filter(Q(status__in=OPEN) | Q(finished_at__gte=oldest.created_at))
    return mine.order_by("pk").values_list("pk", flat=True).first() or oldest.pk


def expected_bulk(models: int, took_ms: Sequence[int]) -> int:
    """Return about how many seconds tests of so many models take, in steps of five; `took_ms` are earlier ones."""
    each = sum(took_ms) / len(took_ms) / 1000 if took_ms else SECONDS_EACH
    return max(5, 5 * round(models * each / AT_ONCE / 5))


def changed(since: int, moment: datetime) -> set[int]:
    """Return the models whose tests, from the id `since` on, are open or have measured something since a moment."""
    rows = Detection.objects.filter(pk__gte=since, kind="tools").order_by()
    measured = Override.objects.filter(created_at__gte=moment, detection__in=rows).order_by().values("profile")
    tested = rows.filter(Q(status__in=OPEN) | Q(finished_at__gte=moment)).values("profile")
    return set(tested.union(measured).values_list("profile", flat=True))


def running(since: int) -> list[int]:
    """Return the models that are under test now, by tests from the id `since` on."""
    rows = Detection.objects.filter(pk__gte=since, kind="tools", status="running").order_by("pk")
    return list(rows.values_list("profile_id", flat=True))


def open_ones(profiles: list[int]) -> dict[int, ShownDetection]:
    """Return the open test of each of these models, by model id."""
    rows = Detection.objects.select_related("profile__server", "actor").filter(profile__in=profiles, status__in=OPEN)
    return {row.profile_id: of_row(row) for row in rows.order_by("id")}


def trials(detection: int) -> list[ShownTrial]:
    """Return the evidence, in order."""
    return [
        ShownTrial(**{name: getattr(row, name) for name in ShownTrial.__slots__})
        for row in Trial.objects.filter(detection_id=detection).order_by("seq")
    ]


def of_row(row: Detection) -> ShownDetection:
    """Build a test's report; its row was read with its model, server and person."""
    return ShownDetection(
        id=row.pk,
        profile=row.profile_id,
        model=row.profile.name,
        server=row.profile.server.name,
        kind=row.kind,
        status=row.status,
        verdict=row.verdict,
        verdict_words=_words(row),
        reason=str(row.detail.get("reason") or row.detail.get("why") or ""),
        detail=row.detail,
        steps=row.progress,
        actor=display_name(row.actor),
        created_at=row.created_at.isoformat(),
        finished_at=row.finished_at.isoformat() if row.finished_at else "",
        load_ms=row.load_ms,
        run_ms=row.run_ms,
        older=row.build_key != row.profile.build.key,
        place=queue.place(row),
        later=row.remaining,
    )


def of_model_row(row: Detection, profile: ModelProfile) -> ShownDetection:
    """Build a test's report; its model and its server were read apart."""
    row.profile = profile
    return of_row(row)


def _words(row: Detection) -> str:
    failed = row.detail.get("formats_failed")
    if row.kind == "formats" and row.verdict == "inconclusive" and failed:
        return sentence("formats_do_not_arrive", formats=failed_format_removal.spoken(failed))
    return VERDICTS.get(row.verdict, "")

"""Manages leases: how long a process owns a turn, a test or a periodic job, by the database's clock.

In: a lifetime, or the name of a job and the id of a process. Out: the end of a lease and the condition for expired
ones, which others write into their own statements; for a job, whether this process has it. Callers: turns, tests of
models, exams, downloads, and the periodic jobs.
- Only the database's clock counts: several machines agree on no other.
- A claim is one conditional UPDATE: of several processes, the one that changed the row is the owner.
- An owner renews long before the end; one that died frees its work by doing nothing. Where only one process serves
  the database, its start frees the work of the one before at once.
It ends no work: an owner that lost its lease finds that out when it writes.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Any

from django.db import transaction
from django.db.models import DateTimeField, Func, Model, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from toolsupport.models import Detection, ExamRun, Lease, ModelPull
from toolsupport.registry import raw_sql, row_cache

# A person waits for an answer that has stopped growing, so its lease is short.
TURN = timedelta(seconds=5)
# A writer of SQLite waits up to 20 s for the others before it gives up: two such waits must fit into a lease.
TEST = timedelta(seconds=60)
JOB = timedelta(seconds=60)
# Begins the id of the process of a command, which runs beside the one that alone serves a database.
OF_COMMANDS = "command "


class Later(Func):
    """A time from now, by the clock of the database. For Django's own sum SQLite calls functions of Python."""

    output_field = DateTimeField()

    def __init__(self, delta: timedelta) -> None:
        super().__init__()
        self.delta = delta

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> Any:
        seconds = f"{self.delta.total_seconds():+.3f} seconds"
        return raw_sql.for_vendor(connection.vendor, "{later}"), [seconds]


@cache
def in_future(delta: timedelta) -> Combinable:
    """Return an expression for now + delta. All processes use the clock of the database."""
    return Later(delta)


def has_work(model: type[Model]) -> bool:
    """Return whether a row of this model waits or runs; not for turns, whose changes are not counted.

    Every process asks each second, outside a transaction, which would count as a writer of SQLite. On SQLite nothing is
    read while nothing changes.
    """
    return row_cache.read(_has_work, model)


def _has_work(model: type[Model]) -> bool:
    return model._default_manager.filter(status__in=("queued", "running")).exists()


def ran_out() -> Q:
    """Match rows whose lease has expired, or that never had one: their owner is gone."""
    return Q(lease_until__lt=Now()) | Q(lease_until=None)


@transaction.atomic
def abandon(only: str) -> None:
    """End the leases of killed processes: those of all but commands and `only`, which alone serves the database."""
    for model in (Detection, ExamRun, ModelPull):
        leased: QuerySet[Any] = model._default_manager.filter(lease_until__gt=Now()).exclude(owner=only)
        leased.exclude(owner__startswith=OF_COMMANDS).update(lease_until=None)


@transaction.atomic
def take(name: str, owner: str) -> bool:
    """Return True if `owner` has the job for the next minute: it was free, expired, or already this owner's."""
    Lease.objects.get_or_create(name=name, defaults={"owner": owner, "until": Now()})
    free = Lease.objects.filter(name=name, until__lte=Now()) | Lease.objects.filter(name=name, owner=owner)
    return bool(free.update(owner=owner, until=in_future(JOB)))


@transaction.atomic
def release(name: str, owner: str) -> None:
    """Free the job for other workers at once."""
    Lease.objects.filter(name=name, owner=owner).update(until=Now())

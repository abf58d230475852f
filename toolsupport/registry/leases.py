"""How long a process holds a turn, a test or a periodic job before others may take it, by the database's clock."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import DateTimeField, ExpressionWrapper, Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from toolsupport.models import Lease

# A reader waits in front of an answer that stopped growing, so its lease is short.
TURN = timedelta(seconds=5)
# A writer of SQLite waits up to 20 s for the others before it gives up: two such waits must fit into a lease.
TEST = timedelta(seconds=60)
JOB = timedelta(seconds=60)


def in_future(delta: timedelta) -> Combinable:
    """An expression for now + delta. All processes share the clock of the database."""
    return ExpressionWrapper(Now() + delta, output_field=DateTimeField())


def ran_out() -> Q:
    """Rows whose lease is over, or that never had one: their owner is gone."""
    return Q(lease_until__lt=Now()) | Q(lease_until=None)


@transaction.atomic
def take(name: str, owner: str) -> bool:
    """True when the job is `owner`'s for the next minute: it was free, run out, or already theirs."""
    Lease.objects.get_or_create(name=name, defaults={"owner": owner, "until": Now()})
    free = Lease.objects.filter(name=name, until__lte=Now()) | Lease.objects.filter(name=name, owner=owner)
    return bool(free.update(owner=owner, until=in_future(JOB)))


@transaction.atomic
def release(name: str, owner: str) -> None:
    """Let another worker have the job at once."""
    Lease.objects.filter(name=name, owner=owner).update(until=Now())

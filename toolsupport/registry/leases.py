"""Who does a periodic job at the moment, by the database's clock."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now

from toolsupport.models import Lease

LENGTH = timedelta(seconds=60)


@transaction.atomic
def take(name: str, owner: str) -> bool:
    """True when the job is `owner`'s for the next minute: it was free, run out, or already theirs."""
    until = ExpressionWrapper(Now() + LENGTH, output_field=DateTimeField())
    Lease.objects.get_or_create(name=name, defaults={"owner": owner, "until": Now()})
    free = Lease.objects.filter(name=name, until__lte=Now()) | Lease.objects.filter(name=name, owner=owner)
    return bool(free.update(owner=owner, until=until))


@transaction.atomic
def release(name: str, owner: str) -> None:
    """Let another worker have the job at once."""
    Lease.objects.filter(name=name, owner=owner).update(until=Now())

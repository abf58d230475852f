"""The database's clock: the one clock all processes share."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

LEASE = timedelta(seconds=5)


def in_future(delta: timedelta) -> Combinable:
    """An expression for now + delta, by the database's clock."""
    return ExpressionWrapper(Now() + delta, output_field=DateTimeField())


def lease() -> Combinable:
    """Until when a process that says so now may be believed to be alive."""
    return in_future(LEASE)

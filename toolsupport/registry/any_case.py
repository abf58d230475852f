"""Compares names in any case, in letters of every language: `__iexact` does so for ASCII only on SQLite."""

from __future__ import annotations

from django.db.models import F, Q, Value
from django.db.models.functions import Lower
from django.db.models.lookups import Exact

# No name has so many characters.
LONGEST = 1_000


def same(field: str, name: str) -> Q:
    """Return the condition that the field is this name in any case; nothing fits a longer one."""
    return Q(Exact(Lower(F(field)), Lower(Value(name)))) if len(name) <= LONGEST else Q(pk__in=())

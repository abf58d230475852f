"""Stores settings that a server lacks for tools, once per model; administrators see them until tools work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.db.models.functions import Now

from toolsupport.core.name_order import by_name
from toolsupport.models import ModelProfile

LONGEST = 200


@dataclass(frozen=True, slots=True)
class MissingFlag:
    """A model that cannot be given tools until its server has the setting `flag`."""

    profile: int
    model: str
    flag: str
    since: datetime | None


def missing(profile: int, flag: str) -> bool:
    """Store it; return False if the same missing setting is stored already."""
    flag = flag[:LONGEST]
    rows = ModelProfile.objects.filter(pk=profile).exclude(missing_flag=flag)
    return bool(rows.update(missing_flag=flag, missing_flag_since=Now()))


def solved(profile: int) -> None:
    """Remove it: a request with tools was answered, or a test found that the server accepts them."""
    _solve(ModelProfile.objects.filter(pk=profile))


def server_changed(server: int) -> None:
    """Remove it after a change to the server: the next request finds a missing setting again."""
    _solve(ModelProfile.objects.filter(server_id=server))


def by_server() -> Mapping[int, tuple[MissingFlag, ...]]:
    """Return the missing settings by server id."""
    found: defaultdict[int, tuple[MissingFlag, ...]] = defaultdict(tuple)
    for row in sorted(open_marks(), key=lambda row: by_name(row.name)):
        found[row.server_id] += (MissingFlag(row.pk, row.name, row.missing_flag, row.missing_flag_since),)
    return found


def servers() -> int:
    """Return the number of servers that lack a setting."""
    return open_marks().values("server").distinct().count()


def open_marks() -> QuerySet[ModelProfile]:
    """Return the missing settings of models in use."""
    there = ModelProfile.objects.filter(enabled=True, gone_since=None, server__enabled=True)
    return there.exclude(missing_flag="")


def _solve(rows: QuerySet[ModelProfile]) -> None:
    rows.exclude(missing_flag="").update(missing_flag="", missing_flag_since=None)

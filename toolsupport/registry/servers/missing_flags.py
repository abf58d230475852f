"""Settings that a server lacks for tools: noted once for each model, shown to administrators until tools work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.db.models.functions import Now

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
    """Note it; False where the same setting was noted before and is still missing."""
    flag = flag[:LONGEST]
    rows = ModelProfile.objects.filter(pk=profile).exclude(missing_flag=flag)
    return bool(rows.update(missing_flag=flag, missing_flag_since=Now()))


def solved(profile: int) -> None:
    """A request with tools was answered, or a test found that the server takes them."""
    _solve(ModelProfile.objects.filter(pk=profile))


def server_changed(server: int) -> None:
    """Somebody changed the server: what it lacks now is found out by the next request."""
    _solve(ModelProfile.objects.filter(server_id=server))


def by_server() -> Mapping[int, tuple[MissingFlag, ...]]:
    """What is missing, by the server's id."""
    found: defaultdict[int, tuple[MissingFlag, ...]] = defaultdict(tuple)
    for row in _open().order_by("name"):
        found[row.server_id] += (MissingFlag(row.pk, row.name, row.missing_flag, row.missing_flag_since),)
    return found


def servers() -> int:
    """How many servers lack a setting."""
    return _open().values("server").distinct().count()


def _open() -> QuerySet[ModelProfile]:
    """What is out of use needs nothing."""
    there = ModelProfile.objects.filter(enabled=True, gone_since=None, server__enabled=True)
    return there.exclude(missing_flag="")


def _solve(rows: QuerySet[ModelProfile]) -> None:
    rows.exclude(missing_flag="").update(missing_flag="", missing_flag_since=None)

"""Counts the problems that administrators have to solve: each mark counts once, until it is solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import CharField, QuerySet, Value

from toolsupport.models import Server
from toolsupport.registry.knowledge import drift_marks
from toolsupport.registry.people import quotas_near_limit
from toolsupport.registry.servers import reachability

SERVERS, MODELS, QUOTAS = KINDS = ("servers", "models", "quotas")


def counts() -> Mapping[str, int]:
    """Return how many marks of each kind there are: one query, and three more where a quota is set."""
    return counted(_marks())


def statement() -> tuple[str, tuple[Any, ...]]:
    """Return the SQL for the rows of `_marks`, with its parameters."""
    return _statement(connection.vendor)


@cache
def _statement(vendor: str) -> tuple[str, tuple[Any, ...]]:
    """Build the SQL once: every page of an administrator counts, and the database reads the clock."""
    sql, parameters = _marks().query.get_compiler(connection.alias).as_sql()
    return sql, tuple(parameters)


def _marks() -> QuerySet[Server, tuple[Any, ...]]:
    """Return (id, kind) of the marks of servers and models."""
    servers = reachability.with_problems().annotate(mark=Value(SERVERS, CharField())).order_by()
    models = drift_marks.open_marks().annotate(mark=Value(MODELS, CharField())).order_by()
    return servers.values_list("pk", "mark").union(models.values_list("pk", "mark"), all=True)


def counted(found: Iterable[tuple[Any, ...]]) -> Mapping[str, int]:
    """Return the counts from the rows of the statement, which begin with (id, kind)."""
    counts = Counter(row[1] for row in found) | Counter({QUOTAS: len(quotas_near_limit.open_marks())})
    return {kind: counts[kind] for kind in KINDS}

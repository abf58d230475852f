"""Counts what administrators have to solve: a mark is there once, and until it is solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django.db.models import CharField, Value

from toolsupport.registry.knowledge import drift_marks
from toolsupport.registry.people import quota_marks
from toolsupport.registry.servers import reachability

SERVERS, MODELS, QUOTAS = KINDS = ("servers", "models", "quotas")


def counts() -> Mapping[str, int]:
    """Return how many marks of each kind there are: one query, and three more where a quota is set."""
    servers = reachability.with_problems().annotate(mark=Value(SERVERS, CharField())).order_by()
    models = drift_marks.open_marks().annotate(mark=Value(MODELS, CharField())).order_by()
    found = servers.values_list("mark", "pk").union(models.values_list("mark", "pk"), all=True)
    counted = Counter(kind for kind, _ in found) | Counter({QUOTAS: len(quota_marks.open_marks())})
    return {kind: counted[kind] for kind in KINDS}

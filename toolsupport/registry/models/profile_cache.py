"""Caches a model's row with its server's until one of them changes."""

from __future__ import annotations

from typing import Any

from toolsupport.models import ModelProfile, Server
from toolsupport.registry import raw_sql, row_cache

MOST = 500
COLUMNS = {model: tuple(str(field.column) for field in model._meta.concrete_fields) for model in (ModelProfile, Server)}
STORED = """SELECT {} FROM toolsupport_modelprofile JOIN toolsupport_server
ON toolsupport_server.id = toolsupport_modelprofile.server_id WHERE toolsupport_modelprofile.id = %s""".format(
    ", ".join(f'{model._meta.db_table}."{column}"' for model, columns in COLUMNS.items() for column in columns)
)

_remembered: dict[int, tuple[tuple[Any, ...], ModelProfile]] = {}


def holds(profile: ModelProfile) -> bool:
    """Return whether this is the shared object, which callers do not change."""
    known = _remembered.get(profile.pk)
    return known is not None and known[1] is profile


def profile(profile_id: int) -> ModelProfile | None:
    """Return the model as it is stored now, with its server; callers must not change it."""
    stored = next(iter(row_cache.rows(STORED, profile_id)), None)
    if stored is None:
        return None
    known = _remembered.get(profile_id)
    if known is not None and (known[0] is stored or known[0] == stored):
        return known[1]
    border = len(COLUMNS[ModelProfile])
    found = raw_sql.row_of(ModelProfile, COLUMNS[ModelProfile], stored[:border])
    found.server = raw_sql.row_of(Server, COLUMNS[Server], stored[border:])
    if len(_remembered) >= MOST:
        _remembered.clear()
    _remembered[profile_id] = (stored, found)
    return found

"""Makes the rows of every answer without the constructor of their models.

They send signals, which this site does not use, and set each field through its descriptor: five times the work. For
models without a constructor of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from django.db.models import Model
from django.db.models.base import ModelState

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class _Defaults:
    """The values of a new row: those that are the same for all, those made for each, and columns by relation."""

    same: Mapping[str, Any]
    made: tuple[tuple[str, Callable[[], Any]], ...]
    relations: Mapping[str, str]


def new(model: type[Row], **given: Any) -> Row:
    """Return a row that is not stored yet, with the defaults of its model. Raises TypeError for an unknown field."""
    defaults = _defaults(model)
    row, state = model.__new__(model), ModelState()
    values = row.__dict__
    values["_state"] = state
    values.update(defaults.same)
    for name, make in defaults.made:
        values[name] = make()
    for name, value in given.items():
        if name in values:
            values[name] = value
        elif name in defaults.relations:
            state.fields_cache[name] = value
            values[defaults.relations[name]] = value.pk
        else:
            raise TypeError(f"{model.__name__} has no field {name!r}")
    return row


def stored(model: type[Row], names: Iterable[str], values: Iterable[Any], alias: str) -> Row:
    """Return a stored row with these values by the names of its columns' attributes; others are read when used."""
    row, state = model.__new__(model), ModelState()
    state.adding, state.db = False, alias
    row.__dict__["_state"] = state
    row.__dict__.update(zip(names, values, strict=True))
    return row


@cache
def _defaults(model: type[Model]) -> _Defaults:
    same, made, relations = dict[str, Any](), list[tuple[str, Callable[[], Any]]](), dict[str, str]()
    for field in model._meta.concrete_fields:
        if field.has_default() and callable(field.default):
            made.append((field.attname, field.default))
            same[field.attname] = None
        else:
            same[field.attname] = field.get_default()
        if field.is_relation:
            relations[field.name] = field.attname
    return _Defaults(same, tuple(made), relations)

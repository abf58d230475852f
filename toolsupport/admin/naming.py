"""Names kinds of rows and empty values in Django's administration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.admin import FieldListFilter
from django.contrib.admin.filters import AllValuesFieldListFilter
from django.contrib.admin.views.main import ChangeList
from django.db.models import CharField, Model

ACRONYMS = re.compile(r"\b(?:api|mcp|sql)\b")
EMPTY = "Empty"


class NamedValues(AllValuesFieldListFilter):
    """A filter by the values of a column, in which the empty text has a name: a link needs one."""

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or EMPTY}


FieldListFilter.register(
    lambda field: isinstance(field, CharField) and not field.flatchoices, NamedValues, take_priority=True
)


def name_rows(models: Iterable[type[Model]]) -> None:
    """Write the names of these kinds of rows in English: Django adds an s to each, and writes acronyms small."""
    for model in models:
        meta = model._meta
        meta.verbose_name = ACRONYMS.sub(lambda found: found.group().upper(), str(meta.verbose_name))
        plural = re.sub(r"(?<=[^aeiou])ys$", "ies", str(meta.verbose_name_plural))
        meta.verbose_name_plural = ACRONYMS.sub(lambda found: found.group().upper(), plural)

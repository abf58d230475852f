"""No index of the chat's tables repeats the beginning of another one: each costs every write."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Model

MODELS = list(apps.get_app_config("chat").get_models())


@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_index_begins_another(model: type[Model]):
    partial = {one.name for one in model._meta.constraints if getattr(one, "condition", None)}
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, model._meta.db_table)
    found = {name: one for name, one in constraints.items() if name not in partial}
    columns = {name: one["columns"] for name, one in found.items() if one["index"] or one["unique"]}
    plain = {name: columns[name] for name, one in found.items() if one["index"] and not one["unique"]}
    covered = [
        (name, other)
        for name, own in plain.items()
        for other, longer in columns.items()
        if len(longer) > len(own) and longer[: len(own)] == own
    ]
    assert not covered

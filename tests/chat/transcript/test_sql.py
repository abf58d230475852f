"""The written statements keep up with the models they speak of."""

from __future__ import annotations

import re

import pytest
from django.db import models
from django.utils import timezone

from chat.models import Message, Turn
from chat.transcript import sql
from tests.factories import ConversationFactory
from toolsupport.registry import leases


@pytest.mark.parametrize(("model", "statement"), [(Turn, sql.RUNNING), (Message, sql.MESSAGE)])
def test_a_new_row_gets_every_column_that_must_have_a_value(model: type[models.Model], statement: str):
    named = set(re.findall(r"\w+", statement.partition("(")[2].partition(")")[0]))
    needed = {field.column for field in model._meta.local_fields if not (field.null or field.primary_key)}
    assert needed <= named


@pytest.mark.django_db
def test_a_lease_is_as_long_as_the_clock_says():
    conversation = ConversationFactory()
    turn = Turn(conversation=conversation, client_id="a", profile_id=conversation.profile_id)
    turn.status, turn.owner = "running", "me"
    sql.insert_running(turn)
    stored = Turn.objects.get(pk=turn.pk)
    assert stored.lease_until is not None
    assert abs(stored.lease_until - timezone.now() - leases.TURN).total_seconds() < 2
    assert (stored.usage, stored.status, stored.owner, stored.created_at) == ({}, "running", "me", turn.created_at)

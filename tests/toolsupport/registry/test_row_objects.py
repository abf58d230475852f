"""Rows made without the constructors of their models are the rows that these would have made."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser
from django.db.models import Model
from django.utils import timezone

from chat.models import Conversation, Message, ToolRun, Turn
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport.core.types import Role
from toolsupport.models import ModelProfile, Server
from toolsupport.registry import raw_sql, row_objects

MODELS = [model for app in ("chat", "toolsupport", "auth") for model in apps.get_app_config(app).get_models()]


def columns(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_new_row_has_the_defaults_of_its_model(model: type[Model]) -> None:
    made, usual = row_objects.new(model), model()
    assert (made._state.adding, made._state.db) == (usual._state.adding, usual._state.db)
    assert made.__dict__.keys() == usual.__dict__.keys()
    random = {field.attname for field in model._meta.concrete_fields if field.get_internal_type() == "UUIDField"}
    times = {name for name, value in columns(usual).items() if hasattr(value, "tzinfo")}
    same = columns(usual).keys() - random - times
    assert {name: columns(made)[name] for name in same} == {name: columns(usual)[name] for name in same}
    assert all(type(columns(made)[name]) is type(columns(usual)[name]) for name in random | times)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_model_needs_its_constructor(model: type[Model]) -> None:
    assert model.__init__ in (Model.__init__, AbstractBaseUser.__init__) and "from_db" not in vars(model)


def test_values_that_are_made_for_each_row_are_not_shared() -> None:
    one, other = row_objects.new(Conversation), row_objects.new(Conversation)
    one.settings["system"] = "Be brief."
    assert other.settings == {} and one.pk != other.pk


@pytest.mark.django_db
def test_a_related_row_is_not_read_again(django_assert_num_queries: Any) -> None:
    conversation = ConversationFactory()
    with django_assert_num_queries(0):
        made = row_objects.new(Message, conversation=conversation, parent_id=None, content="Hello")
        assert made.conversation is conversation
    assert (made.conversation_id, made.content, made.role) == (conversation.pk, "Hello", Message().role)


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="Message has no field 'text'"):
        row_objects.new(Message, text="Hello")


@pytest.mark.django_db
def test_stored_rows_are_those_of_their_models() -> None:
    now, profile = timezone.now(), ModelProfileFactory(options={"timeouts": {"total": 5}})
    conversation = ConversationFactory(profile=profile, settings={"system": "é", "left_out": []})
    times = {"started_at": now, "created_at": now}
    turn = Turn.objects.create(conversation=conversation, profile=profile, usage={"a": [1.5, None]}, **times)
    message = Message.objects.create(conversation=conversation, role=Role.ASSISTANT, turn=turn, facts=None)
    run = {"call_id": "1", "name": "read_file", "snapshot": b"\x00\xff", "started_at": now}
    ToolRun.objects.create(turn=turn, message=message, arguments={"path": "ü"}, **run)
    ToolRun.objects.create(turn=turn, message=message, asked_arguments=[{}], **{**run, "call_id": "2"})
    for model in (Conversation, Turn, Message, ToolRun, ModelProfile, Server):
        expected = list(model._default_manager.order_by("pk"))
        found = raw_sql.made(model, f"SELECT * FROM {model._meta.db_table} ORDER BY id")
        assert expected and [*map(columns, found)] == [*map(columns, expected)]
        assert {row._state.adding for row in found} == {False}


@pytest.mark.django_db
def test_columns_that_were_not_read_are_read_when_they_are_used() -> None:
    conversation = ConversationFactory(title="Later")
    (found,) = raw_sql.made(Conversation, "SELECT id FROM chat_conversation WHERE id = %s", conversation.pk)
    assert found.title == "Later"

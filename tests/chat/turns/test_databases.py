"""Who may use a database is looked up for each call, and its answers are kept whole (T10)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import ResultTable, ToolRun
from chat.transcript.settings import turn_settings
from chat.turns.databases import PersonDatabases
from tests.factories import ConversationFactory, ModelProfileFactory, UserFactory
from toolsupport.core.errors import ToolError
from toolsupport.registry.databases import example_database, sql_sources
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.services import database_schema_refresh

pytestmark = pytest.mark.django_db(transaction=True)

COUNT = "SELECT COUNT(*) FROM orders"


@pytest.fixture
def alice(transactional_db: None) -> User:
    made: User = UserFactory(role="user", username="alice")
    return made


@pytest.fixture
def shop(alice: User, settings: Any, tmp_path: Any) -> int:
    settings.ENV = settings.ENV | {"TOOLSUPPORT_DATA_DIR": str(tmp_path)}
    source = example_database.install()
    asyncio.run(database_schema_refresh.refresh_schema(source))
    return source


def asked(person: User, query: str = COUNT, name: str = "shop") -> Any:
    return asyncio.run(PersonDatabases(person.pk).ask(name, query)).rows


def test_those_who_may_read_it_do(alice: User, shop: int) -> None:
    assert asked(alice) == asked(alice, name=" SHOP ") == ((sum(example_database.BUSY),),)


def test_others_do_not_even_learn_that_it_is_there(alice: User, shop: int) -> None:
    stranger = UserFactory()
    with pytest.raises(ToolError, match="Databases: none that this chat may read"):
        asked(stranger)
    with pytest.raises(ToolError, match="Databases: shop"):
        asked(alice, name="sales")


def test_what_is_withdrawn_ends_at_once(alice: User, shop: int) -> None:
    sql_sources.set_enabled(shop, False)
    with pytest.raises(ToolError):
        asked(alice)
    sql_sources.set_enabled(shop, True)
    assert asked(alice)
    sql_sources.set_groups(shop, ["admin"])
    with pytest.raises(ToolError):
        asked(alice)
    sql_sources.set_groups(shop, ["user"])
    alice.is_active = False
    alice.save()
    with pytest.raises(ToolError):
        asked(alice)


def test_what_a_database_refuses_is_told(alice: User, shop: int) -> None:
    with pytest.raises(ToolError, match="Only queries run here"):
        asked(alice, "DELETE FROM orders")
    with pytest.raises(ToolError, match="no such table: elsewhere"):
        asked(alice, "SELECT * FROM elsewhere")


def test_tables_are_found_by_what_they_hold(alice: User, shop: int) -> None:
    def found(query: str) -> list[str]:
        return [one.table.name for one in asyncio.run(PersonDatabases(alice.pk).tables(query, 1))]

    assert (found("what teas cost, their prices"), found("customers")) == (["teas"], ["orders"])
    assert found("quantum")  # where nothing fits, something is shown
    assert asyncio.run(PersonDatabases(UserFactory().pk).tables("orders", 5)) == []


def shown() -> tuple[bool, str, list[str]]:
    """Whether the one database was ever reached or tried, why it cannot be read, and its tables."""
    (source,) = sql_sources.listed()
    return source.looked_at is not None, str(source.why), [table.name for table in source.tables]


def test_queries_show_whether_a_database_can_be_read(alice: User, settings: Any, tmp_path: Any) -> None:
    settings.ENV = settings.ENV | {"TOOLSUPPORT_DATA_DIR": str(tmp_path)}
    example_database.install()
    tables = ["teas", "orders"]
    for refused in ("DELETE FROM orders", "SELECT * FROM elsewhere"):
        with pytest.raises(ToolError):
            asked(alice, refused)
        assert shown() == (False, "", []), "a failed query shows nothing about the database"
    assert asked(alice) and shown() == (True, "", tables)
    example_database.path().rename(tmp_path / "elsewhere")
    with pytest.raises(ToolError, match="no such file"):
        asked(alice)
    assert shown() == (True, "There is no such file on the server.", tables)
    (tmp_path / "elsewhere").rename(example_database.path())
    assert asked(alice) and shown() == (True, "", tables)


def test_a_server_that_does_not_answer_is_shown(alice: User) -> None:
    address = "postgresql://reader:canary@127.0.0.1:1/shop"
    sql_sources.add(sql_sources.NewSource("shop", "postgresql", address, ["user"]))
    with pytest.raises(ToolError, match="No connection to the database"):
        asked(alice)
    tried, why, _ = shown()
    assert tried and why.startswith("No connection to the database") and "canary" not in why


def test_our_own_database_is_refused(alice: User, settings: Any) -> None:
    source = sql_sources.add(
        sql_sources.NewSource("own", "sqlite", str(settings.DATABASES["default"]["NAME"]), ["user"])
    )
    if not sql_sources.own_database("sqlite"):
        pytest.skip("the database of this run is no file")
    assert "itself" in asyncio.run(database_schema_refresh.refresh_schema(source))


def test_a_model_is_told_of_them_by_name(alice: User, shop: int) -> None:  # T1
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))

    def offered(person: User) -> dict[str, str]:
        made = turn_settings.prepared(ConversationFactory(owner=person, profile=profile))
        return {tool.name: tool.description for tool in made.request_spec.tools}

    assert "Databases: shop (SQLite)." in offered(alice)["execute_sql"] and "search_schemas" in offered(alice)
    assert not {"execute_sql", "search_schemas"} & set(offered(UserFactory()))


def test_a_table_is_saved_by_its_owner_alone(alice: User, client: Client) -> None:
    conversation = ConversationFactory(owner=alice)
    turn = conversation.turns.create(client_id="1", profile=conversation.profile, status="done")
    message = conversation.messages.create(role="assistant", turn=turn)
    run = ToolRun.objects.create(turn=turn, message=message, call_id="1", name="execute_sql", status="done")
    ResultTable.objects.create(run=run, csv="month,orders\n2025-01,-3\n=1+1,\n")
    client.force_login(alice)
    answer = client.get(f"/chat/calls/{run.pk}/table.csv")
    assert answer.content == b"month,orders\r\n2025-01,-3\r\n'=1+1,\r\n"
    assert "attachment" in answer["Content-Disposition"]
    client.force_login(UserFactory(role="admin"))
    assert client.get(f"/chat/calls/{run.pk}/table.csv").status_code == 404

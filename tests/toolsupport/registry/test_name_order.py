"""Lists that people read are sorted by name, whatever the case of the letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import McpServerFactory, McpToolFactory, ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.core.name_order import by_name
from toolsupport.models import CallMetric, Family, McpTool, Server, SqlSource
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.history import timeline_filters
from toolsupport.registry.knowledge import bulk_decisions, team_families
from toolsupport.registry.knowledge.bulk_decisions import BulkDecision
from toolsupport.registry.mcp import mcp_servers, tool_approvals
from toolsupport.registry.metrics import insights
from toolsupport.registry.models import custom_models, picker, profiles
from toolsupport.registry.people import accounts, admins_with_sign_in
from toolsupport.registry.servers import missing_flags, server_models, servers
from toolsupport.registry.testing import evidence_overview
from toolsupport.web.pages import model_filters

pytestmark = pytest.mark.django_db
MADE, IN_ORDER = ("Zeta", "beta", "Übung", "Alpha", "gamma"), ("Alpha", "beta", "gamma", "Zeta", "Übung")


def make_models(**facts: object) -> list[int]:
    server = ServerFactory(name="one")
    return [ModelProfileFactory(name=name, server=server, **facts).pk for name in MADE]


def make_servers(**facts: object) -> list[int]:
    rows = [ServerFactory(name=name, **facts) for name in MADE]
    return [ModelProfileFactory(name="m", server=row).pk for row in rows]


def names(rows: Iterable[object], attribute: str = "name") -> list[str]:
    return [str(getattr(row, attribute)) for row in rows]


def databases() -> list[str]:
    for name in MADE:
        SqlSource.objects.create(name=name, kind="sqlite", location="x")
    return names(sql_sources.listed())


def mcp() -> list[str]:
    for name in MADE:
        McpServerFactory(name=name)
    return names(mcp_servers.shown())


def tools() -> list[str]:
    server = McpServerFactory()
    for name in MADE:
        McpToolFactory(name=name, server=server)
    return names(mcp_servers.shown()[0].tools)


def approved() -> list[str]:
    server = McpServerFactory()
    for name in MADE:
        McpToolFactory(name=name, server=server)
    return tool_approvals.approve_all(server.pk, dict.fromkeys(McpTool.objects.values_list("pk", flat=True), "-"), 1)[1]


def people() -> list[str]:
    for name in MADE:
        UserFactory(username=name)
    return names(accounts.listed())


def administrators() -> list[str]:
    for name in MADE:
        UserFactory(username=name, role="admin")
    return list(admins_with_sign_in.administrators())


def people_of_history() -> list[str]:
    people()
    return [name for _, name in timeline_filters.all_of_them()["actor"]]


def models_of_history() -> list[str]:
    make_models()
    return [name.removesuffix(" (one)") for _, name in timeline_filters.all_of_them()["profile"]]


def servers_of_history() -> list[str]:
    make_servers()
    return [name for _, name in timeline_filters.all_of_them()["server"]]


def models() -> list[str]:
    make_models()
    return names(profiles.listed())


def models_of_one_name() -> list[str]:
    make_servers()
    return names(profiles.listed(), "server")


def models_by_column() -> list[str]:
    make_models()
    return names(model_filters.sifted(profiles.listed(), {"sort": "model"}, ()))


def servers_to_filter() -> list[str]:
    make_servers()
    found = model_filters.choices(profiles.listed(), {})
    return list(next(choice.values for choice in found if choice.name == "server"))


def usable() -> list[str]:
    make_models()
    return names(profiles.usable())


def picked() -> list[str]:
    make_models()
    return names(picker.choices())


def chatting() -> list[str]:
    make_models()
    return names(picker.chatting())


def stored() -> list[str]:
    make_models()
    return names(server_models.stored(Server.objects.get(name="one").pk))


def lacking() -> list[str]:
    make_models(missing_flag="--jinja")
    return names(missing_flags.by_server()[Server.objects.get(name="one").pk], "model")


def to_change() -> list[str]:
    return names(bulk_decisions.preview(BulkDecision(make_models(), "tools", True)), "model")


def counted() -> list[str]:
    for pk in make_models():
        CallMetric.objects.create(profile_id=pk, day="2026-01-01", format="native", outcome="done")
    return [name.removesuffix(" (one)") for _, name in insights.choices()["profile"]]


def all_servers() -> list[str]:
    make_servers()
    return names(servers.listed())


def unknown_server() -> list[str]:
    make_servers()
    with pytest.raises(Exception, match="There is no server") as refused:
        servers.id_of("none")
    return str(refused.value).partition("Servers: ")[2].rstrip(".").split(", ")


def down() -> list[str]:
    make_servers(reachable=False)
    return names(servers.down())


def servers_of_tests() -> list[str]:
    make_servers()
    return evidence_overview.read(UserFactory().pk).servers


def families() -> list[str]:
    for name in MADE:
        Family.objects.create(name=name, patterns=[name])
    return names(row for row, _ in team_families.listed())


def families_to_choose() -> list[str]:
    families()
    return custom_models.family_names()


def to_move() -> list[str]:
    make_models()
    return names(
        team_families.preview(Family(name="all", patterns=["alpha", "beta", "gamma", "zeta", "übung"])), "model"
    )


LISTS = (
    *(databases, mcp, tools, approved, people, administrators, people_of_history, models_of_history),
    *(servers_of_history, models, models_of_one_name, models_by_column, servers_to_filter, usable, picked, chatting),
    *(stored, lacking, to_change, counted, all_servers, unknown_server, down, servers_of_tests, families),
    *(families_to_choose, to_move),
)


@pytest.mark.parametrize("listed", LISTS, ids=lambda listed: listed.__name__)
def test_a_list_is_sorted_by_name_in_any_case(listed: Callable[[], list[str]]) -> None:
    Server.objects.all().delete()
    User.objects.all().delete()
    assert [name for name in listed() if name in MADE] == list(IN_ORDER)


@given(st.lists(st.text()))
def test_the_order_is_the_same_whatever_it_was_before(given_names: list[str]) -> None:
    once = sorted(given_names, key=by_name)
    assert sorted(reversed(once), key=by_name) == once
    folded = [name.casefold() for name in once]
    assert folded == sorted(folded)

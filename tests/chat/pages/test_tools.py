"""The page of the tools: everybody signed in sees it, administrators change the defaults."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from chat.tools import BUILTINS
from chat.transcript.conversations import next_request, prompts
from chat.transcript.settings import available_tools
from tests.factories import ConversationFactory, McpServerFactory, McpToolFactory, ModelProfileFactory, UserFactory
from tests.markup import flat
from toolsupport.config import environment
from toolsupport.core import format_choice
from toolsupport.core.tool_selection import Candidate
from toolsupport.core.types import ChatSettings, ToolFilter, ToolSpec
from toolsupport.models import ModelProfile
from toolsupport.registry.databases import sql_sources
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import request_context
from toolsupport.registry.settings import switches, team_settings, tool_settings

pytestmark = pytest.mark.django_db
FORM = {"prompt": "Be brief.", "temperature": "0.5", "model": ""}


@pytest.mark.parametrize("name", ["alice", "bob", "charlie"])
def test_everybody_signed_in_sees_every_tool(client: Client, name: str, request: pytest.FixtureRequest) -> None:
    client.force_login(request.getfixturevalue(name))
    page = client.get("/tools/").content.decode()
    assert all(tool in page for tool in BUILTINS)
    page = client.get("/tools/?show=defaults").content.decode()
    assert ("<button>Save" in page) is (name == "bob") and "Call formats" in page


# SAFETY 3.1: what happens is what the policy does
def test_each_tool_has_one_row_with_its_risk_and_what_happens(client: Client, bob: User) -> None:
    client.force_login(bob)
    page = flat(client.get("/tools/").content.decode())
    rows = {row.split('for="switch-')[1].split('"')[0]: row for row in page.split('<li class="tool-row"')[1:]}
    assert set(rows) == set(BUILTINS)
    for name, risk, happens in (
        ("read_file", "Read-only", "Runs without asking"),
        ("write_file", "Changes files", "Asks every time"),
        ("python_execution", "Runs code", ""),
    ):
        assert risk in rows[name] and happens in rows[name], name
        assert 'role="switch"' in rows[name] and f'<label class="mono" for="switch-{name}">{name}</label>' in rows[name]
    assert not re.search(r"\b(A[0-4]|Level)\b", page)
    assert all(f"<h2>{group}</h2>" in page for group in ("Files", "Code", "Data and memory"))


def test_strangers_are_sent_to_sign_in(client: Client) -> None:
    assert client.get("/tools/").status_code == client.post("/tools/defaults/", FORM).status_code == 302


# C9
def test_bob_sets_what_every_chat_begins_with(client: Client, bob: User, alice: User) -> None:
    profile: ModelProfile = ModelProfileFactory(name="qwen3:8b")
    ConversationFactory(owner=alice)
    client.force_login(bob)
    answer = client.post("/tools/defaults/", FORM | {"model": str(profile.pk)})
    assert "Saved" in answer.content.decode()
    request_spec = request_context.request_spec(profile.pk, [], ChatSettings()).request_spec
    assert (request_spec.system, request_spec.options["temperature"]) == ("Be brief.", 0.5)
    own = request_context.request_spec(profile.pk, [], ChatSettings(system="Mine.", temperature=1.5)).request_spec
    assert (own.system, own.options["temperature"]) == ("Mine.", 1.5)
    assert team_settings.default_model() == profile.pk


def test_a_temperature_that_is_none_changes_nothing(client: Client, bob: User) -> None:
    client.force_login(bob)
    answer = client.post("/tools/defaults/", FORM | {"temperature": "warm"})
    assert "from 0 to 2" in answer.content.decode()
    assert team_settings.get("base_system_prompt") != "Be brief."


@pytest.mark.parametrize("name", ["alice", "charlie"])
def test_the_others_may_not(client: Client, name: str, request: pytest.FixtureRequest) -> None:
    client.force_login(request.getfixturevalue(name))
    assert client.post("/tools/defaults/", FORM).status_code == 403
    assert client.post("/tools/switches/", {"filter_only": "on"}).status_code == 403
    assert not switches.in_force().filter_only
    assert team_settings.get("base_system_prompt") != "Be brief."


# O6
def test_bob_switches_what_the_site_does_by_itself(client: Client, bob: User) -> None:
    client.force_login(bob)
    answer = client.post("/tools/switches/", {"filter_only": "on", "text_formats": "off"}).content.decode()
    assert "Saved" in answer and '<option value="off" selected>Never' in answer
    assert switches.in_force().filter_only
    refused = client.post("/tools/switches/", {"drift": "maybe"}).content.decode()
    assert "choose one of Ask for a new test" in refused


# O6
def test_the_page_says_what_the_environment_has_locked(client: Client, bob: User, settings: Settings) -> None:
    settings.ENV = settings.ENV | environment.read({"TOOLSUPPORT_DRIFT": "off"})
    client.force_login(bob)
    page = client.get("/tools/?show=defaults").content.decode()
    assert "Set by <code>TOOLSUPPORT_DRIFT</code>" in page
    assert 'aria-describedby="switch-drift-about" disabled>' in page


# -- what is offered --


def switched(client: Client, tool: str, on: bool) -> str:
    answer = client.post("/tools/switch/", {"tool": tool, "on": "on" if on else "off"})
    assert answer.status_code == 200
    return answer.content.decode()


# T1
def test_a_tool_is_switched_for_every_chat(client: Client, bob: User) -> None:
    client.force_login(bob)
    page = flat(switched(client, "read_file", False))
    assert 'id="switch-read_file" name="on" value="on">' in page and "Saved" in page
    assert [one.enabled for one in available_tools.offer().candidates if one.spec.name == "read_file"] == [False]
    assert 'id="switch-read_file" name="on" value="on" checked>' in flat(switched(client, "read_file", True))
    assert "This tool does not exist." in switched(client, "nobodys", True)


@pytest.mark.parametrize(
    ("role", "level", "status"),
    [
        ("user", "A1", 403),
        ("reviewer", "A1", 200),
        ("reviewer", "A3", 403),
        ("reviewer", "A4", 403),
        ("admin", "A3", 200),
    ],
)
def test_code_is_switched_by_administrators_only(
    client: Client, monkeypatch: pytest.MonkeyPatch, role: str, level: str, status: int
) -> None:  # SAFETY 3.2
    planted(monkeypatch, level)
    client.force_login(UserFactory(role=role))
    assert client.post("/tools/switch/", {"tool": "probe", "on": "on"}).status_code == status
    assert tool_settings.enabled("probe", "A3", team_settings.everything()) is (status == 200)


def test_what_cannot_work_here_cannot_be_switched_on(
    client: Client, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:  # SAFETY 3.2
    planted(monkeypatch, "A3", "The sandbox did not start.")
    client.force_login(bob)
    page = switched(client, "probe", True)
    assert "The sandbox did not start." in page
    assert 'id="switch-probe" name="on" value="on" disabled>' in flat(page)
    assert not tool_settings.enabled("probe", "A3", team_settings.everything())


def planted(monkeypatch: pytest.MonkeyPatch, level: str, missing: str = "") -> None:
    probe = replace(BUILTINS["read_file"], spec=ToolSpec("probe"), level=level, needs=lambda: missing)
    monkeypatch.setitem(BUILTINS, "probe", probe)


def test_choosing_prompts_works_where_there_are_some(client: Client, bob: User) -> None:
    client.force_login(bob)
    assert "There are no prompts" in client.get("/tools/").content.decode()
    prompts.write(bob, prompts.PromptDraft("polite", "Manners.", "Say please."))
    assert "There are no prompts" not in client.get("/tools/").content.decode()


def test_a_tool_without_anything_to_use_says_where_that_is_made(client: Client, bob: User) -> None:
    client.force_login(bob)
    page = flat(client.get("/tools/").content.decode())
    assert page.count('class="why">There ') == 4
    assert 'There is no database that your chats may read. <a href="/tools/sources/">Databases</a>' in page
    sql_sources.add(sql_sources.NewSource("shop", "sqlite", "/nowhere", ["admin"]))
    assert flat(client.get("/tools/").content.decode()).count('class="why">There ') == 2


def test_tools_that_wait_for_an_administrator_are_counted(client: Client, alice: User) -> None:
    McpToolFactory(waiting={"name": "send"}, waiting_digest="new")
    McpToolFactory(waiting={"name": "send"}, waiting_digest="new", server__enabled=False)
    client.force_login(alice)
    assert '<span class="count">1<span class="visually-hidden"> to approve' in flat(
        client.get("/tools/").content.decode()
    )


def test_servers_and_their_tools_are_sorted_by_name_in_any_case(client: Client, bob: User) -> None:
    for server in (McpServerFactory(name=name) for name in ("Zoo", "attic", "Bar")):
        for tool in ("Zeta", "beta", "Alpha"):
            McpToolFactory(name=tool, server=server)
    client.force_login(bob)
    page = client.get("/tools/").content.decode()
    found = re.findall(r"\b(attic|Bar|Zoo)__(Alpha|beta|Zeta)\b", page)
    assert list(dict.fromkeys(found)) == list(product(("attic", "Bar", "Zoo"), ("Alpha", "beta", "Zeta")))
    explained = next_request.of_model(bob, ModelProfileFactory().pk)
    assert [name for name, _ in explained.servers] == ["attic", "Bar", "Zoo"]


# T1
def test_bob_leaves_tools_of_servers_out(
    client: Client, bob: User, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = team_settings.everything()
    found = tuple(
        Candidate(ToolSpec(name), kind="mcp", server="wiki", materialised=True) for name in ("wiki_read", "wiki_find")
    )
    monkeypatch.setattr(available_tools, "offer", lambda **_: request_context.ToolOffer(found, team))
    form = {"kind": "tools", "name": "wiki_read", "out": "out"}
    client.force_login(alice)
    assert client.post("/tools/filter/", form).status_code == 403
    client.force_login(bob)
    assert "Allow wiki_read" in client.post("/tools/filter/", form).content.decode()
    assert ToolFilter.read(team_settings.get("left_out")) == ToolFilter(frozenset({"wiki_read"}))
    page = client.post("/tools/filter/", {"kind": "servers", "name": "wiki", "out": "out"}).content.decode()
    assert "Allow the server" in page
    client.post("/tools/filter/", form | {"out": ""})
    assert ToolFilter.read(team_settings.get("left_out")) == ToolFilter(servers=frozenset({"wiki"}))
    assert "This tool does not exist" in client.post("/tools/filter/", form | {"kind": "people"}).content.decode()


# -- call formats --


def formats_form(primary: str = "", disabled: tuple[str, ...] = (), seen: str | None = None) -> dict[str, Any]:
    kept = [name for name in format_choice.names() if name not in disabled]
    return {
        "primary": primary,
        "kept": kept,
        "seen": tool_settings.formats(team_settings.everything()).stamp if seen is None else seen,
    }


# F2 T1
def test_bob_says_which_formats_are_used(client: Client, bob: User) -> None:
    profile: ModelProfile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    client.force_login(bob)
    before = tool_settings.formats(team_settings.everything()).stamp
    assert "Saved" in client.post("/tools/formats/", formats_form("hermes")).content.decode()
    assert (
        request_context.request_spec(profile.pk, [ToolSpec("read_file")], ChatSettings()).request_spec.format
        == "hermes"
    )
    clash = client.post("/tools/formats/", formats_form("pythonic", seen=before)).content.decode()
    assert "Another person changed the formats" in clash and "First Hermes" in clash and "First Python" in clash
    assert "Saved" in client.post("/tools/formats/", formats_form(disabled=("native",))).content.decode()
    made = request_context.request_spec(profile.pk, [ToolSpec("read_file")], ChatSettings()).request_spec
    assert made.format == "" and made.tools == ()


@pytest.mark.parametrize(
    ("primary", "disabled", "words"),
    [("morse", (), "This call format does not exist."), ("hermes", ("hermes",), "cannot be switched off")],
)
def test_formats_that_make_no_sense_change_nothing(
    client: Client, bob: User, primary: str, disabled: tuple[str, ...], words: str
) -> None:
    client.force_login(bob)
    assert words in client.post("/tools/formats/", formats_form(primary, disabled)).content.decode()
    assert tool_settings.formats(team_settings.everything()) == tool_settings.FormatSettings()


@pytest.mark.parametrize("name", ["alice", "charlie"])
def test_the_others_change_no_formats(client: Client, name: str, request: pytest.FixtureRequest) -> None:
    client.force_login(request.getfixturevalue(name))
    assert client.post("/tools/formats/", formats_form("hermes")).status_code == 403
    assert client.post("/tools/switch/", {"tool": "read_file"}).status_code == 403

"""The page of the tools: everybody signed in sees it, administrators change the defaults."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from chat.tools import BUILTINS
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport import environment
from toolsupport.core.words import ChatSettings
from toolsupport.models import ModelProfile
from toolsupport.registry import briefs, switches, system_settings

pytestmark = pytest.mark.django_db
FORM = {"prompt": "Be brief.", "temperature": "0.5", "model": ""}


@pytest.mark.parametrize("name", ["alice", "bob", "charlie"])
def test_everybody_signed_in_sees_every_tool(client: Client, name: str, request: pytest.FixtureRequest) -> None:
    client.force_login(request.getfixturevalue(name))
    page = client.get("/tools/").content.decode()
    assert all(tool in page for tool in BUILTINS)
    assert ("<button>Save" in page) is (name == "bob")


def test_strangers_are_sent_to_sign_in(client: Client) -> None:
    assert client.get("/tools/").status_code == client.post("/tools/defaults/", FORM).status_code == 302


# C9
def test_bob_sets_what_every_chat_begins_with(client: Client, bob: User, alice: User) -> None:
    profile: ModelProfile = ModelProfileFactory(name="qwen3:8b")
    ConversationFactory(owner=alice)
    client.force_login(bob)
    answer = client.post("/tools/defaults/", FORM | {"model": str(profile.pk)})
    assert "Saved" in answer.content.decode()
    brief = briefs.brief(profile.pk, [], ChatSettings()).brief
    assert (brief.system, brief.options["temperature"]) == ("Be brief.", 0.5)
    own = briefs.brief(profile.pk, [], ChatSettings(system="Mine.", temperature=1.5)).brief
    assert (own.system, own.options["temperature"]) == ("Mine.", 1.5)
    assert system_settings.default_model() == profile.pk


def test_a_temperature_that_is_none_changes_nothing(client: Client, bob: User) -> None:
    client.force_login(bob)
    answer = client.post("/tools/defaults/", FORM | {"temperature": "warm"})
    assert "from 0 to 2" in answer.content.decode()
    assert system_settings.base_system_prompt() != "Be brief."


@pytest.mark.parametrize("name", ["alice", "charlie"])
def test_the_others_may_not(client: Client, name: str, request: pytest.FixtureRequest) -> None:
    client.force_login(request.getfixturevalue(name))
    assert client.post("/tools/defaults/", FORM).status_code == 403
    assert client.post("/tools/switches/", {"filter_only": "on"}).status_code == 403
    assert not switches.in_force().filter_only
    assert system_settings.base_system_prompt() != "Be brief."


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
    page = client.get("/tools/").content.decode()
    assert "Set by <code>TOOLSUPPORT_DRIFT</code>" in page
    assert 'aria-describedby="switch-drift-about" disabled>' in page

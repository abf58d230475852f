"""The page of the tools: everybody signed in sees it, administrators change the defaults."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.tools import BUILTINS
from tests.factories import ConversationFactory, ModelProfileFactory
from toolsupport.core.words import ChatSettings
from toolsupport.models import ModelProfile
from toolsupport.registry import briefs, system_settings

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
    assert system_settings.base_system_prompt() != "Be brief."

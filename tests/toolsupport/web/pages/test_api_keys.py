"""A person's own keys: Alice creates and revokes them, Charlie sees none, and each is shown only once."""

from __future__ import annotations

import json
import re
import shlex
import tomllib

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from tests.factories import ModelProfileFactory, ServerFactory
from tests.samples import read
from toolsupport.registry.people import api_keys

pytestmark = pytest.mark.django_db
KEY = re.compile(r"tsk-[\w-]{40,}")


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def test_a_key_is_shown_once_and_works(page: Client, alice: User) -> None:  # SAFETY (Gateway)
    answer = page.post("/account/keys/", {"name": "laptop", "scopes": ["chat"]})
    [key] = set(KEY.findall(answer.content.decode()))
    assert "no-store" in answer.headers["Cache-Control"]
    holder = api_keys.holder(key)
    assert holder is not None and holder.person == alice
    again = page.get("/account/").content.decode()
    assert key not in again and api_keys.listed(alice.pk)[0].prefix in again


def test_a_name_that_will_not_do_is_said(page: Client) -> None:
    answer = page.post("/account/keys/", {"name": "a\u202eb", "scopes": ["chat"]})
    assert (answer.status_code, "Give the key another name" in answer.content.decode()) == (422, True)
    assert page.post("/account/keys/", {"name": "laptop"}).status_code == 422


def test_a_key_is_revoked_on_the_page(page: Client, alice: User) -> None:
    key = api_keys.create(alice.pk, "laptop")
    revoked = page.post(f"/account/keys/{api_keys.listed(alice.pk)[0].id}/revoke/", follow=True)
    assert "Revoked" in revoked.content.decode() and revoked.redirect_chain == [("/account/", 302)]
    assert api_keys.holder(key) is None


def test_who_may_not_chat_is_shown_no_keys(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert "API keys" not in client.get("/account/").content.decode()


def test_the_code_names_this_site_and_a_model_of_it(page: Client) -> None:
    profile = ModelProfileFactory()
    text = page.get("/account/code/").content.decode()
    assert "http://testserver/v1" in text and f"{profile.server.name}/{profile.name}" in text


def test_hidden_simulated_models_are_explained(page: Client) -> None:
    ModelProfileFactory(name="sim-honest:latest", server=ServerFactory(kind="simulator"))
    assert "simulated model is hidden" not in page.get("/account/code/").content.decode()
    ModelProfileFactory(server=ServerFactory(reachable=True))
    text = page.get("/account/code/").content.decode()
    assert "1 simulated model is hidden: one of your own servers answers." in text and "sim-honest" not in text


def test_the_code_holds_the_new_key_once(page: Client) -> None:
    ModelProfileFactory(name="other:1b")
    model = ModelProfileFactory(name='it\'s "so"')
    made = page.post("/account/keys/", {"name": "laptop", "scopes": ["chat"]}).content.decode()
    key = KEY.findall(made)[0]
    assert all(key in "".join(blocks) for blocks in read(made).values())
    name = f"{model.server.name}/{model.name}"
    answer = page.post("/account/code/filled/", {"key": key, "model": name})
    blocks = read(answer.content.decode())
    assert "no-store" in answer.headers["Cache-Control"] and key in blocks["curl"][0]
    # Each language gets the name as a text of its own.
    assert f"model={json.dumps(name)}" in blocks["Python, openai: chat completions"][0]
    assert tomllib.loads(blocks["Codex"][0])["model"] == name
    assert json.loads(blocks["OpenCode"][0])["model"] == f"toolsupport/{name}"
    assert f"ANTHROPIC_MODEL={shlex.quote(name)}" in blocks["Claude Code"][0]


@pytest.mark.parametrize("key", ["", "tsk-short", "tsk-" + "x" * 30 + "'; rm -rf ~", "<script>"])
def test_nothing_but_a_key_gets_into_the_code(page: Client, key: str) -> None:
    ModelProfileFactory(name="bad\u2028```\nend")
    answer = page.post("/account/code/filled/", {"key": key, "model": "no/such"}).content.decode()
    blocks = read(answer)
    assert "Authorization: Bearer tsk-…'" in blocks["curl"][0] and '"model": "server/model"' in blocks["curl"][0]
    assert len(blocks) == 11 and "rm -rf" not in answer


def test_who_may_not_chat_gets_no_code(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert client.get("/account/code/").status_code == client.post("/account/code/filled/").status_code == 403


def test_the_command_prints_a_key_that_works(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create_api_key", "alice", "--name", "cron")
    holder = api_keys.holder(capsys.readouterr().out.strip())
    assert holder is not None and holder.person == alice
    assert api_keys.listed(alice.pk)[0].name == "cron"


@pytest.mark.parametrize(("name", "why"), [("nobody", "There is no person named"), ("charlie", "does not allow")])
def test_the_command_makes_none_for_others(alice: User, charlie: User, name: str, why: str) -> None:
    with pytest.raises(CommandError, match=why):
        call_command("create_api_key", name)

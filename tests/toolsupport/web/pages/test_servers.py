"""The page of the servers, for Alice, Bob, Charlie and strangers."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.factories import ModelProfileFactory, ServerFactory
from tests.markup import flat
from tests.toolsupport.stand_in import Servers
from toolsupport import providers
from toolsupport.core.errors import ConfigError, RequestRefused
from toolsupport.core.pull_progress import PullReader
from toolsupport.core.types import ChatSettings, Endpoint
from toolsupport.models import ModelPull, Server
from toolsupport.providers import ModelReport, RunningModel, ServerReport
from toolsupport.registry.knowledge import event_log
from toolsupport.registry.models import picker, request_context
from toolsupport.registry.people import audit_log
from toolsupport.registry.servers import key_encryption, missing_flags, pulls, servers
from toolsupport.registry.servers.servers import NewServer

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}
BOX = "http://box:11434"
SENT = {"name": "Box", "kind": "ollama", "base_url": BOX, "api_key": "sk-canary"}


def _text(answer) -> str:
    assert answer.status_code == 200
    return answer.content.decode()


def test_everybody_sees_whether_servers_answer_and_what_to_do(client: Client, charlie: User):  # M2
    ServerFactory(name="up", version="0.13.0", last_seen_at="2026-11-03T10:00Z")
    ServerFactory(name="down", reachable=False, last_error="Connection refused.", down_since="2026-11-03T09:00Z")
    ServerFactory(name="new", reachable=None)
    client.force_login(charlie)
    page = _text(client.get("/servers/"))
    for words in ("Online", "Offline", "Not asked yet", "Connection refused.", "ollama serve", "3 Nov 2026"):
        assert words in page
    assert "Check again" not in page
    assert "Add a server" not in page


def test_a_missing_setting_is_a_mark_until_it_is_solved(client: Client, alice: User, bob: User, charlie: User):  # P9
    model = ModelProfileFactory(name="m:1b", server=ServerFactory(name="box"))
    missing_flags.missing(model.pk, "--jinja")
    bar = "> server has a problem<"
    for person, sees, tests in ((alice, False, True), (bob, True, True), (charlie, False, False)):
        client.force_login(person)
        for address in ("/servers/", f"/models/{model.pk}/"):
            page = flat(_text(client.get(address)))
            assert "The server needs a setting for tools: <code>--jinja</code>" in page, person
            assert "native tool calls" in page and "answers without tools" not in page  # it may call as text
            offers = "Test again" in page or "data-detect" in page
            assert (bar in page, offers) == (sees, tests), person
    missing_flags.solved(model.pk)
    client.force_login(bob)
    for address in ("/servers/", f"/models/{model.pk}/"):
        page = _text(client.get(address))
        assert "--jinja" not in page and bar not in page


@pytest.mark.parametrize("path", ["add/", "refresh/", "1/check/", "1/switch/"])
def test_charlie_may_change_nothing(client: Client, charlie: User, path: str):
    assert client.post(f"/servers/{path}").headers["Location"].startswith("/login/")
    client.force_login(charlie)
    assert client.post(f"/servers/{path}").status_code == 403
    assert client.get(f"/servers/{path}").status_code == 405


def test_alice_may_check_but_not_add_or_switch(client: Client, alice: User, servers_out_there: Servers):
    server = ServerFactory(base_url=BOX)
    client.force_login(alice)
    assert "does not answer" in _text(client.post(f"/servers/{server.pk}/check/", headers=HTMX))
    for path in ("add/", f"{server.pk}/switch/"):
        assert client.post(f"/servers/{path}", SENT).status_code == 403


def test_bob_adds_a_server_and_it_is_asked_at_once(client: Client, bob: User, servers_out_there: Servers):  # M1
    servers_out_there.reports[BOX] = ServerReport("0.13.0", (ModelReport("qwen3:8b"), ModelReport("gemma3:1b")))
    client.force_login(bob)
    part = _text(client.post("/servers/add/", SENT, headers=HTMX))
    assert "The server answered with 2 models." in part
    assert "with an API key" in part
    assert "canary" not in part
    assert "<html" not in part
    assert Server.objects.get().reachable is True
    assert "canary" not in Server.objects.get().api_key


def test_one_that_does_not_answer_is_kept_and_says_so(client: Client, bob: User, servers_out_there: Servers):
    client.force_login(bob)
    part = _text(client.post("/servers/add/", SENT, headers=HTMX))
    assert "The check failed" in part
    assert Server.objects.get().reachable is False


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("name", "box", "already a server called"),
        ("name", "", "required"),
        ("kind", "simulator", "Select a valid choice"),
        ("base_url", "box", "begin with http"),
        ("base_url", "http://ana:pw@box", "API key has a field"),
    ],
)
def test_a_server_that_cannot_be_is_refused(
    client: Client, bob: User, servers_out_there: Servers, field: str, value: str, why: str
):
    ServerFactory(name="Box")
    client.force_login(bob)
    part = _text(client.post("/servers/add/", SENT | {"name": "Other", field: value}, headers=HTMX))
    assert why in part
    assert "sk-canary" not in part
    assert Server.objects.count() == 1
    assert servers_out_there.surveyed == []


def test_bob_switches_a_server_off_and_on(client: Client, bob: User):
    server = ServerFactory()
    client.force_login(bob)
    assert "Switched off" in _text(client.post(f"/servers/{server.pk}/switch/", {"enabled": "0"}, headers=HTMX))
    server.refresh_from_db()
    assert server.enabled is False
    client.post(f"/servers/{server.pk}/switch/", {"enabled": "1"}, headers=HTMX)
    server.refresh_from_db()
    assert server.enabled is True


def test_refresh_asks_every_server(client: Client, bob: User, servers_out_there: Servers):
    servers_out_there.reports[BOX] = ServerReport("0.13.0")
    ServerFactory(base_url=BOX)
    ServerFactory(base_url="http://down:1")
    client.force_login(bob)
    assert "Checked 2 servers: 1 online." in _text(client.post("/servers/refresh/", headers=HTMX))


@pytest.mark.parametrize("path", ["check/", "switch/"])
def test_an_absent_server_is_not_found(client: Client, bob: User, servers_out_there: Servers, path: str):
    client.force_login(bob)
    assert client.post(f"/servers/999/{path}").status_code == 404


def test_a_form_without_scripts_leads_to_the_page_with_the_result(
    client: Client, bob: User, servers_out_there: Servers
):
    servers_out_there.reports[BOX] = ServerReport("0.13.0", (ModelReport("qwen3:8b"),))
    client.force_login(bob)
    added = client.post("/servers/add/", SENT)
    server = Server.objects.get().pk
    place = f"/servers/#server-{server}"
    assert (added.status_code, added.headers["Location"]) == (302, place)
    assert "The server answered with 1 model." in _text(client.get("/servers/"))
    for path, sent in ((f"{server}/check/", {}), (f"{server}/switch/", {"enabled": "0"})):
        assert client.post(f"/servers/{path}", sent).headers["Location"] == place
    assert client.post("/servers/refresh/").headers["Location"] == "/servers/"
    # What could not be added is shown with its form.
    refused = client.post("/servers/add/", SENT)
    assert refused.status_code == 200 and "already a server called" in _text(refused)


def test_many_servers_take_few_queries(
    client: Client, charlie: User, django_assert_max_num_queries: DjangoAssertNumQueries
):
    for _ in range(30):
        ModelProfileFactory()
    client.force_login(charlie)
    with django_assert_max_num_queries(8):
        assert client.get("/servers/").content.count(b'<section class="card" id="server-') == 30


# -- one server: edit, remove, status -----------------------------------------------------------------


def _stored(**facts: object) -> Server:
    return ServerFactory(name="Box", base_url=BOX, api_key=key_encryption.encrypt("sk-canary"), **facts)


def test_only_administrators_may_edit_or_remove(client: Client, alice: User, charlie: User):  # M11
    server = _stored()
    for person in (alice, charlie):
        client.force_login(person)
        assert "Manage" not in _text(client.get("/servers/"))
        assert client.get(f"/servers/{server.pk}/").status_code == 403
        for path in ("edit/", "remove/"):
            assert client.post(f"/servers/{server.pk}/{path}", SENT).status_code == 403


def test_bob_edits_a_server_and_its_key_is_never_shown(client: Client, bob: User, servers_out_there: Servers):  # M11
    servers_out_there.reports[BOX] = servers_out_there.reports["http://other:1"] = ServerReport("1")
    server = _stored(reachable=False, fault="wrong_key")
    client.force_login(bob)
    url = f"/servers/{server.pk}/"
    assert "canary" not in _text(client.get(url))
    sent = {"name": "Tower", "kind": "ollama", "base_url": BOX, "api_key": ""}
    part = _text(client.post(f"{url}edit/", sent, headers=HTMX))
    assert "Online" in part and "Box: changed" not in part and "Tower: changed name." in part
    server.refresh_from_db()
    assert (server.name, key_encryption.decrypt(server.api_key), server.fault) == ("Tower", "sk-canary", "")
    elsewhere = sent | {"base_url": "http://other:1"}
    part = _text(client.post(f"{url}edit/", elsewhere, headers=HTMX))
    assert "belongs to the old address" in part and "http://other:1" not in servers_out_there.surveyed
    assert "Online" in _text(client.post(f"{url}edit/", elsewhere | {"remove_key": "on"}, headers=HTMX))
    server.refresh_from_db()
    assert (server.base_url, server.api_key) == ("http://other:1", "")


def test_what_the_environment_defines_is_changed_there(client: Client, bob: User, servers_out_there: Servers):
    server = ServerFactory(name="Env", origin="environment")
    client.force_login(bob)
    assert "Change it there" in _text(client.get(f"/servers/{server.pk}/"))
    for path in ("edit/", "remove/"):
        assert "Change it there" in _text(client.post(f"/servers/{server.pk}/{path}", SENT, headers=HTMX))
    assert Server.objects.get().name == "Env"


def test_a_removed_server_leaves_every_page_and_what_is_known_of_its_models_stays(
    client: Client, bob: User, servers_out_there: Servers
):  # M11
    server = _stored()
    model = ModelProfileFactory(name="kept:1b", server=server)
    entry = event_log.record(event_log.HistoryEvent("override", model.pk, "tools"))
    client.force_login(bob)
    page = flat(_text(client.get(f"/servers/{server.pk}/")))
    assert "Its 1 model can no longer be chosen." in page and "Tests, decisions and history are kept." in page
    page = client.post(f"/servers/{server.pk}/remove/", follow=True).content.decode()
    assert "Box was removed." in page and 'class="card" id="server-' not in page
    assert "kept:1b" not in _text(client.get("/models/"))
    assert client.get(f"/servers/{server.pk}/").status_code == 404
    assert client.get(f"/history/{entry}/").status_code == 200
    with pytest.raises(ConfigError, match="was removed"):
        request_context.request_spec(model.pk, (), ChatSettings())
    chosen = picker.shown(model.pk)
    assert chosen is not None and chosen.why_not == servers.REMOVED
    assert Server.objects.get().api_key == ""
    assert servers.add(NewServer("Box", "ollama", BOX)) != server.pk
    assert audit_log.of(f"server {server.pk}")[0].reason == f"Removed Box ({BOX})."


def test_a_silent_server_shows_when_it_is_asked_again(client: Client, bob: User, servers_out_there: Servers):  # M11
    server = ServerFactory(name="Box", base_url=BOX)
    client.force_login(bob)
    part = flat(_text(client.post(f"/servers/{server.pk}/check/", headers=HTMX)))
    assert re.search(r"Checked again in [456] s\.", part) and "Offline</span>" in part
    status = f"/servers/{server.pk}/status/?badge=Offline"
    waiting = client.get(status, headers=HTMX)
    assert "Checked again in" in _text(waiting) and "HX-Retarget" not in waiting.headers
    servers_out_there.reports[BOX] = ServerReport("1")
    client.post(f"/servers/{server.pk}/check/")
    changed = client.get(status, headers=HTMX)
    assert changed.headers["HX-Retarget"] == f"#server-{server.pk}" and "Online</span>" in flat(_text(changed))


# -- the models of one server -------------------------------------------------------------------------


@pytest.fixture
def in_memory(monkeypatch: pytest.MonkeyPatch) -> dict[str, RunningModel]:
    """What every server has in memory; `delete` and `unload` take it away."""
    held = {"m:1b": RunningModel("m:1b", 5_000_000_000, 2_000_000_000, timezone.now() + timedelta(minutes=4), 8192)}

    async def running(endpoint: Endpoint) -> tuple[RunningModel, ...]:
        return tuple(held.values())

    async def taken(endpoint: Endpoint, name: str) -> None:
        if name not in held:
            raise RequestRefused("The server does not have this model: “<b>no</b>”.", kind="model_missing")
        del held[name]

    monkeypatch.setattr(providers, "running", running)
    monkeypatch.setattr(providers, "unload", taken)
    monkeypatch.setattr(providers, "delete", taken)
    return held


def test_only_administrators_see_or_change_the_models_of_a_server(
    client: Client, alice: User, charlie: User, in_memory: dict[str, RunningModel]
):  # M10
    server = ServerFactory()
    for person in (alice, charlie):
        client.force_login(person)
        assert client.get(f"/servers/{server.pk}/models/").status_code == 403
        for deed in ("pull", "cancel", "delete", "unload"):
            sent = {"deed": deed, "name": "m:1b"}
            assert client.post(f"/servers/{server.pk}/models/act/", sent).status_code == 403
    assert "m:1b" in in_memory and not ModelPull.objects.exists()


def test_bob_pulls_a_model_and_its_progress_survives_a_reload(
    client: Client, bob: User, in_memory: dict[str, RunningModel]
):  # M10
    server = ServerFactory(name="Box")
    client.force_login(bob)
    act, part = f"/servers/{server.pk}/models/act/", f"/servers/{server.pk}/models/?part=pulls"
    page = flat(_text(client.post(act, {"deed": "pull", "name": "qwen3:8b"}, headers=HTMX)))
    assert "Waiting" in page and "Cancel qwen3:8b" in page and 'hx-trigger="every 1s"' in page
    claimed = pulls.claim("worker")
    assert claimed is not None
    read = PullReader("downloading")
    read.feed(b'{"status":"pulling a","digest":"sha256:a","total":5000000000,"completed":1200000000}')
    assert pulls.progress(claimed.id, "worker", read)
    for shown in (client.get(part, headers=HTMX), client.get(f"/servers/{server.pk}/")):
        page = flat(_text(shown))
        assert "Downloading: 1.2 GB of 5.0 GB" in page and 'value="24"' in page and "HX-Trigger" not in shown.headers
    page = flat(_text(client.post(act, {"deed": "cancel", "name": "qwen3:8b"}, headers=HTMX)))
    assert "Cancelled" in page and "Resume qwen3:8b" in page and "every 1s" not in page
    assert not pulls.progress(claimed.id, "worker", read), "its process stops"
    assert client.get(part, headers=HTMX).headers["HX-Trigger"] == "models-changed"
    client.post(act, {"deed": "pull", "name": "qwen3:8b"})
    assert ModelPull.objects.get().status == "queued", "the same download goes on"
    assert "without spaces" in _text(client.post(act, {"deed": "pull", "name": "a b"}, headers=HTMX))


def test_bob_deletes_and_unloads_and_a_foreign_error_is_quoted_and_escaped(
    client: Client, bob: User, in_memory: dict[str, RunningModel]
):  # M10
    server = ServerFactory(name="Box")
    model = ModelProfileFactory(name="m:1b", server=server, size_bytes=5_000_000_000)
    client.force_login(bob)
    act = f"/servers/{server.pk}/models/act/"
    page = flat(_text(client.get(f"/servers/{server.pk}/")))
    assert "5.0 GB · 2.0 GB on graphics cards · context 8,192 · unloaded in 4 min" in page
    assert "Deleting m:1b frees its space" in page
    page = flat(_text(client.post(act, {"deed": "unload", "name": "m:1b"}, headers=HTMX)))
    assert "m:1b was unloaded." in page and "No model is in memory." in page
    page = _text(client.post(act, {"deed": "delete", "name": "m:1b"}, headers=HTMX))
    assert "“&lt;b&gt;no&lt;/b&gt;”" in page
    in_memory["m:1b"] = RunningModel("m:1b", 1, 0, None)
    page = flat(_text(client.post(act, {"deed": "delete", "name": "m:1b"}, headers=HTMX)))
    assert "m:1b was deleted" in page and "The server lists no models." in page
    model.refresh_from_db()
    assert model.gone_since is not None
    assert [change.reason for change in audit_log.of(f"server {server.pk}")] == [
        "Deleted m:1b from Box.",
        "Unloaded m:1b on Box.",
    ]

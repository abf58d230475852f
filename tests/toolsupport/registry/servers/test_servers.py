"""The rows of the servers."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries, Settings

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.config import environment
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.models import Server
from toolsupport.registry.servers import server_edits, servers
from toolsupport.registry.servers.addresses import NamedAddress
from toolsupport.registry.servers.server_edits import ServerChange
from toolsupport.registry.servers.servers import NewServer

pytestmark = pytest.mark.django_db


def test_an_added_server_is_listed_with_its_models():
    server_id = servers.add(NewServer(" Box ", "ollama", "http://box:11434/", "sk-canary"))
    ModelProfileFactory(server_id=server_id)
    ModelProfileFactory(server_id=server_id, gone_since="2026-01-01T00:00Z")
    listed = servers.listed()[0]
    assert (listed.name, listed.base_url, listed.models, listed.has_key) == ("Box", "http://box:11434", 1, True)
    assert listed.reachable is None
    assert listed.why == ""


def test_the_key_is_encrypted_and_reaches_only_the_endpoint():
    server_id = servers.add(NewServer("Box", "ollama", "http://box", "sk-canary"))
    assert "canary" not in Server.objects.get(pk=server_id).api_key
    endpoint = servers.endpoint(server_id)
    assert endpoint.api_key == "sk-canary"
    assert "canary" not in repr(endpoint) + repr(servers.listed())


@pytest.mark.parametrize("key", ["sk–copied", "a\r\nx-evil: 1", "a\tb", "ключ", "a\x7fb"])
def test_a_key_that_no_header_holds_is_refused(key: str, bob: User) -> None:
    with pytest.raises(ConfigError, match="A key has letters, digits and signs of ASCII only"):
        servers.add(NewServer("Box", "ollama", "http://box", key))
    box = servers.add(NewServer("Box", "ollama", "http://box", " sk-canary\n"))
    assert servers.endpoint(box).api_key == "sk-canary"
    with pytest.raises(ConfigError, match="A key has letters"):
        server_edits.edit(box, ServerChange("Box", "ollama", "http://box", key), bob.pk)
    assert servers.endpoint(box).api_key == "sk-canary"


@pytest.mark.parametrize("name", ["box", "", "a/b", "x" * 81, "a\u202eb", "a\nb", "\u2800", "..", r"a\b"])
def test_a_name_is_needed_and_taken_once(name: str):
    servers.add(NewServer("Box", "ollama", "http://box"))
    with pytest.raises(ConfigError, match="name"):
        servers.add(NewServer(name, "ollama", "http://other"))


def test_a_server_of_the_environment_follows_it_but_not_over_a_person():
    first = servers.ensure_simulator("http://127.0.0.1:5000")
    servers.set_enabled(first, False)
    assert servers.ensure_simulator("http://127.0.0.1:6000") == first
    shown = servers.shown(first)
    assert (shown.base_url, shown.enabled, shown.simulated, shown.origin) == (
        "http://127.0.0.1:6000",
        False,
        True,
        "built-in",
    )


def test_the_limits_of_a_profile_come_before_those_of_its_server():
    server = ServerFactory(options={"timeouts": {"connect": 1, "between": 9, "strange": 3}})
    profile = ModelProfileFactory(server=server, options={"timeouts": {"between": 7}})
    limits = servers.endpoint_of(server, profile).limits
    assert (limits.connect, limits.between, limits.first_token) == (1, 7, 300.0)


def test_servers_to_ask(settings: Settings):
    simulator = servers.ensure_simulator("http://127.0.0.1:5000")
    box = ServerFactory(name="box").pk
    ServerFactory(name="off", enabled=False)
    assert set(servers.enabled_ids()) == {box, simulator}
    settings.ENV = settings.ENV | {"TOOLSUPPORT_SIMULATOR": "off"}
    assert servers.enabled_ids() == (box,)


def test_what_is_not_there_is_not_found():
    ServerFactory(name="box")
    for missing in (lambda: servers.endpoint(99), lambda: servers.shown(99), lambda: servers.set_enabled(99, True)):
        with pytest.raises(NotFound):
            missing()
    with pytest.raises(NotFound, match="Servers: box"):
        servers.id_of("bax")


def test_the_list_takes_few_queries_however_many(django_assert_max_num_queries: DjangoAssertNumQueries):
    for _ in range(20):
        ModelProfileFactory()
    with django_assert_max_num_queries(3):
        assert len(servers.listed()) == 20


# M1: the environment brings keys along; they lie encrypted like any other.
def test_a_server_of_the_environment_has_the_key_of_the_environment(settings: Settings):
    box = NamedAddress("my box-2", "openai", "http://box:1")
    settings.ENV = settings.ENV | environment.read({"TOOLSUPPORT_SERVER_MY_BOX_2_KEY": "sk-first\n"})
    row = servers.ensure_named(box)
    assert servers.endpoint(row).api_key == "sk-first"
    assert "sk-first" not in Server.objects.get(pk=row).api_key
    settings.ENV = settings.ENV | environment.read({"TOOLSUPPORT_SERVER_MY_BOX_2_KEY": "sk-second"})
    assert servers.ensure_named(box) == row
    assert servers.endpoint(row).api_key == "sk-second"
    settings.ENV = settings.ENV | environment.read({})
    servers.ensure_named(box)
    assert servers.endpoint(row).api_key == "sk-second"


def test_a_key_that_cannot_be_read_any_more_is_replaced(settings: Settings):
    settings.ENV = settings.ENV | environment.read({"TOOLSUPPORT_SERVER_BOX_KEY": "sk-new"})
    Server.objects.create(name="box", kind="openai", base_url="http://box:1", api_key="not ciphertext")
    row = servers.ensure_named(NamedAddress("box", "openai", "http://box:1"))
    assert servers.endpoint(row).api_key == "sk-new"

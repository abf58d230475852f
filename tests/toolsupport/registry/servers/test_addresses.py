"""Addresses as people and the environment write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.errors import ConfigError
from toolsupport.registry.servers.addresses import NamedAddress, named_servers, ollama_host, server_url

GOOD = [
    ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
    ("  http://box:11434/  ", "http://box:11434"),
    ("HTTPS://Models.Example.ORG/ollama/", "https://models.example.org/ollama"),
    ("http://[::1]:11434", "http://[::1]:11434"),
]
BAD = [
    ("box:11434", "begin with http"),
    ("", "begin with http"),
    ("ftp://box", "begin with http"),
    ("file:///etc/passwd", "begin with http"),
    ("http://", "begin with http"),
    ("http://name:secret@box", "API key has a field"),
    ("http://name@box", "API key has a field"),
    ("http://name:@box", "API key has a field"),
    ("http://:secret@box", "API key has a field"),
    ("http://@box", "API key has a field"),
    ("http://name@box:11434@other", "API key has a field"),
    ("http://box/?a=1", "after [?] or #"),
    ("http://box/#a", "after [?] or #"),
    ("http://box:99999", "not an address"),
    ("http://box:port", "not an address"),
    ("http://[::1", "not an address"),
    ("http://bo x", "space"),
    ("http://box:11434/v1", "Leave out /v1"),
    ("http://box:11434/api/", "Leave out /api"),
]


@pytest.mark.parametrize(("written", "url"), GOOD)
def test_good_addresses(written: str, url: str):
    assert server_url("ollama", written) == url


@every(("written", "why"), BAD)
def test_bad_addresses_say_why(written: str, why: str):
    with pytest.raises(ConfigError, match=why):
        server_url("ollama", written)


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_the_usual_endings_of_the_openai_wire_are_taken_off(ending: str):  # M1
    assert server_url("openai", f"https://openrouter.ai/api{ending}") == "https://openrouter.ai/api"


# M1: hosts whose version is not ours to add.
@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://box/v1beta/openai/", "https://box/v1beta/openai"),
        ("https://box/v1beta/openai/chat/completions", "https://box/v1beta/openai"),
        ("https://box/client/v4/accounts/x/ai/v1", "https://box/client/v4/accounts/x/ai/v1"),
        ("https://box/api/paas/v4/chat/completions", "https://box/api/paas/v4"),
        ("https://box/openai/v1", "https://box/openai"),
    ],
)
def test_a_version_of_its_own_stays_in_the_address(written: str, url: str):
    assert server_url("openai", written) == url


def test_an_address_never_repeats_a_password():
    with pytest.raises(ConfigError) as raised:
        server_url("ollama", "http://ana:hunter2@box")
    assert "hunter2" not in str(raised.value)


def test_an_unknown_kind_names_the_known():
    with pytest.raises(ConfigError, match="ollama"):
        server_url("olama", "http://box")


# As Ollama's own client reads it.  # M1
@every(
    ("written", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("box", "http://box:11434"),
        ("box:1234/", "http://box:1234"),
        ("http://box", "http://box:80"),
        ("https://box", "https://box:443"),
        ("https://box:11434/models", "https://box:11434/models"),
        ('"box:1"', "http://box:1"),
        ("[::1]:5000", "http://[::1]:5000"),
        ("[::]", "http://[::1]:11434"),
        ("::1", "http://[::1]:11434"),
        ("::", "http://[::1]:11434"),
        ("fd00::2/ollama", "http://[fd00::2]:11434/ollama"),
        ("http://::1", "http://[::1]:80"),
        ("https://box", "https://box:443"),
    ],
)
def test_ollama_host(written: str, url: str):
    assert ollama_host(written) == url


def test_a_bad_ollama_host_names_the_variable():
    with pytest.raises(ConfigError, match="OLLAMA_HOST='box:port'"):
        ollama_host("box:port")


def test_servers_of_the_environment():
    assert named_servers(["box=ollama+http://box:11434/", " b = ollama+http://b "]) == (
        NamedAddress("box", "ollama", "http://box:11434"),
        NamedAddress("b", "ollama", "http://b"),
    )


@every(
    ("entries", "why"),
    [
        (["box"], "should read name=kind[+]url"),
        (["box=http://box"], "should read name=kind[+]url"),
        (["=ollama+http://box"], "should read name=kind[+]url"),
        (["box=cat+http://box"], "'box' cannot be used. There is no kind"),
        (["box=ollama+box"], "'box' cannot be used. 'box' is not an address"),
        (["a=ollama+http://a", "a=ollama+http://b"], "names 'a' twice"),
        (["a\u202eb=ollama+http://a"], "U[+]202E"),
        (["..=ollama+http://a"], "is a path"),
    ],
)
def test_bad_entries_are_named(entries: list[str], why: str):
    with pytest.raises(ConfigError, match=why):
        named_servers(entries)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_clear_error(text: str):
    for read in (lambda: server_url("ollama", text), lambda: ollama_host(text)):
        try:
            assert read().startswith(("http://", "https://"))
        except ConfigError as error:
            assert str(error)

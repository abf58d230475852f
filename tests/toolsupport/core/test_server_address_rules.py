"""Addresses of servers as people write them, and hosts that are never asked."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.core import server_address_rules
from toolsupport.core.errors import ConfigError

NEVER = (
    *("169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "240.0.0.1"),
    *("fe80::1", "fe80::1%eth0", "ff02::1", "::", "::ffff:169.254.169.254", "::ffff:0.0.0.0"),
)
PRIVATE = ("127.0.0.1", "::1", "10.0.0.7", "192.168.1.2", "93.184.216.34", "2606:2800::1")
GOOD = (
    *("http://box", "https://box:8443/path", "http://[::1]:11434", "http://127.0.0.1/", "http://0.0.0.0:11434"),
    *("http://box.example.org/a@b", "http://bücher.example", "http://10.0.0.7.example.org", "HTTP://box"),
)
USERS = ("http://user@host", "http://user:secret@host", "http://@host", "http://:secret@host", "user:secret@host:1")
FOREIGN = (
    *("http://169.254.169.254/latest", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/", "http://224.0.0.1"),
    # With dots and digits of other scripts, which clients write as ASCII.
    "http://169。254。169。254/",
    "http://169．254．169．254",
    "http://１６９.254.169.254",
    "http://metadata。google.internal",
)
NUMBERS = ("http://2852039166/", "http://0xA9FEA9FE/", "http://169.16689662/", "http://0251.0376.0251.0376/")
WRONG = ("", "box", "box:1", "//box", "ftp://box", "file:///etc/passwd", "http://", "http:///a", "http://box:99999")
STRANGE = (
    "http://a\\b",
    "http://a%2fb",
    "http://a<b>",
    "http://bo x",
    "http://bo\nx",
    "http://bo\x00x",
    "http://bo\u200bx",
)


@every("address", NEVER)
def test_some_addresses_are_never_asked(address: str) -> None:  # SAFETY 2 (Web)
    assert not server_address_rules.may_be_asked(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_an_administrator_may_name_the_others(address: str) -> None:
    assert server_address_rules.may_be_asked(address)


@every("written", GOOD)
def test_a_good_address_stays_as_it_is(written: str) -> None:
    assert server_address_rules.checked(f" {written} ").geturl().lower() == written.lower()


@pytest.mark.parametrize("written", USERS)
def test_names_and_passwords_are_refused_and_not_repeated(written: str) -> None:
    with pytest.raises(ConfigError, match="a token has a field of its own") as raised:
        server_address_rules.checked(written, "a token")
    assert "secret" not in str(raised.value)


@every("written", FOREIGN)
def test_a_host_that_is_never_asked_is_refused_where_it_is_written(written: str) -> None:
    with pytest.raises(ConfigError, match="never contacted"):
        server_address_rules.checked(written)


@pytest.mark.parametrize("written", NUMBERS)
def test_an_address_in_disguise_is_refused(written: str) -> None:
    with pytest.raises(ConfigError, match="four numbers"):
        server_address_rules.checked(written)


@every("written", [*WRONG, *STRANGE])
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(ConfigError, match="not an address"):
        server_address_rules.checked(written)


def test_what_follows_the_address() -> None:
    assert server_address_rules.checked("http://box/mcp?team=a", query=True).query == "team=a"
    for written, query in (("http://box/?a=1", False), ("http://box/#a", False), ("http://box/#a", True)):
        with pytest.raises(ConfigError, match=r"after [?] or #"):
            server_address_rules.checked(written, query=query)


@pytest.mark.parametrize("host", ["box", "", "/var/run/postgresql", "box.example.org", "127.0.0.1", "::1", "0.0.0.0"])
def test_hosts_that_may_be_written(host: str) -> None:
    assert [one for one in (host, "169.254.169.254") if refused(one)] == ["169.254.169.254"]


def refused(host: str) -> bool:
    try:
        server_address_rules.check_host(host)
    except ConfigError:
        return True
    return False

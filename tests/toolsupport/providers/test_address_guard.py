"""No spelling of a forbidden address is ever connected to; names are resolved by fakes, and nothing leaves."""

from __future__ import annotations

import asyncio
import socket
import unicodedata
from contextlib import suppress
from typing import Any

import pytest

from chat.mcp.client.address_check import judged_addresses
from tests.metadata_addresses import METADATA, hosts, in_version_6
from tests.tables import every
from tests.toolsupport.providers.scripted import FINE, scripted
from tests.toolsupport.providers.test_transport import HI, ask, failure
from toolsupport import providers
from toolsupport.core import server_address_rules
from toolsupport.core.errors import ConfigError, ProviderError
from toolsupport.core.server_address_rules import AddressScope, scope
from toolsupport.core.types import Endpoint

OPEN = (
    *(
        ("93.184.216.34", "public"),
        ("2606:2800::1", "public"),
        ("::ffff:8.8.8.8", "public"),
        ("64:ff9b::808:808", "public"),
    ),
    *(("127.0.0.1", "inside"), ("::1", "inside"), ("10.0.0.7", "inside"), ("172.16.0.1", "inside")),
    *(("192.168.1.2", "inside"), ("100.64.0.1", "inside"), ("fd12:3456::1", "inside"), ("::ffff:10.0.0.7", "inside")),
    *(
        ("64:ff9b::a00:7", "inside"),
        ("2002:a00:7::1", "inside"),
        ("64:ff9b:1::808:808", "inside"),
        ("::10.0.0.7", "inside"),
    ),
    # Special purposes, documentation and unassigned blocks, whatever the interpreter's own list has.
    *((f"{prefix}::1", "inside") for prefix in ("5f00", "3fff", "3fff:fff", "2001:db8", "2001:2", "2001:20")),
    *((f"{prefix}::1", "inside") for prefix in ("100", "100:0:0:1", "1", "200", "1fff", "4000", "8000", "e000")),
    *(("192.88.99.1", "inside"), ("::ffff:192.88.99.1", "inside"), ("2002:c058:6301::1", "inside")),
    *(("198.18.0.1", "inside"), ("203.0.113.9", "inside"), ("198.51.100.7", "inside"), ("192.0.2.1", "inside")),
    *(("2a00:1450::1", "public"), ("2002:808:808::1", "public"), ("::ffff:0:8.8.8.8", "public")),
    *(("64:ff9b:1:a00:0:700::", "inside"), ("2001:db8::5efe:a00:7", "inside"), ("fec0::1", "inside")),
)


class Network:
    """A resolver that reads every spelling as generously as any system does, and a record of the connections."""

    def __init__(self) -> None:
        self.connected: list[str] = []
        self.names: dict[str, list[str]] = {}

    def resolve(self, host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        written = host.decode() if isinstance(host, bytes) else str(host)
        found = self.names.get(written) or [as_read(written)]
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (one, port or 0, 0, 0))
            if ":" in one
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port or 0))
            for one in found
        ]

    async def connect(self, sock: socket.socket, address: Any) -> None:
        self.connected.append(address[0])
        raise ConnectionRefusedError


def as_read(host: str) -> str:
    """Return the address that the most generous system would connect to; names lead to metadata."""
    plain = unicodedata.normalize("NFKC", host).replace("。", ".").rstrip(".").strip("[]").partition("%")[0]
    with suppress(OSError):
        return socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, plain))
    with suppress(OSError):
        return socket.inet_ntoa(socket.inet_aton(plain))
    return METADATA[0]


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    made = Network()
    monkeypatch.setattr(socket, "getaddrinfo", made.resolve)
    monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_connect", lambda _, *given: made.connect(*given))
    return made


# SAFETY 1.9, SPEC S4
@pytest.mark.asyncio
async def test_no_spelling_leads_a_model_server_to_metadata(network: Network) -> None:
    """Whether or not the address was refused where it was entered: rows of older versions were not."""
    passed = []
    for host in hosts():
        with suppress(ProviderError, ConfigError, ValueError):
            await providers.survey(Endpoint("ollama", f"http://{host}"))
        passed += [host] if any(scope(one) is AddressScope.NEVER for one in network.connected) else []
        network.connected.clear()
    await providers.close()
    assert len(hosts()) >= 120 and passed == []


@pytest.mark.asyncio
async def test_no_spelling_leads_an_mcp_server_to_metadata(network: Network) -> None:
    passed = []
    for host in hosts():
        with suppress(ConfigError, OSError, ValueError):
            name = server_address_rules.checked(f"http://{host}", "a token").hostname or ""
            found = await judged_addresses(name)
            passed += [host] if any(scope(one) is AddressScope.NEVER for one in found) else []
    assert passed == []


@every("address, expected", OPEN)
def test_an_address_is_public_or_inside(address: str, expected: str) -> None:
    assert scope(address) == expected


@every("address", in_version_6("169.254.169.254"))
def test_an_address_inside_another_is_judged(address: str) -> None:
    assert scope(address) is AddressScope.NEVER


@pytest.mark.asyncio
async def test_a_name_is_judged_at_each_connection(network: Network) -> None:
    """The second look-up leads elsewhere, as in DNS rebinding; of several addresses a permitted one is used."""
    endpoint = Endpoint("ollama", "http://box.example:11434")
    for found, connected in ((["127.0.0.1"], 1), (["169.254.169.254"], 1), (["169.254.169.254", "10.0.0.7"], 2)):
        network.names["box.example"] = found
        await failure(endpoint)
        await providers.close()  # with what it remembers of names
        assert len(set(network.connected)) == connected
    assert set(network.connected) == {"127.0.0.1", "10.0.0.7"}


@pytest.mark.asyncio
async def test_a_server_outside_is_not_looked_for_inside(network: Network) -> None:
    network.names = {"api.example": ["10.0.0.7"], "far.example": ["93.184.216.34"]}
    outside = Endpoint("openai", "http://api.example", inside=False)
    refused = await failure(outside)
    assert "inside this network" in refused.message and network.connected == []
    await failure(Endpoint("openai", "http://127.0.0.1:9", inside=False))
    assert network.connected == []
    await failure(Endpoint("openai", "http://far.example", inside=False))
    assert set(network.connected) == {"93.184.216.34"}
    assert "never used" in (await failure(Endpoint("openai", "http://169.254.169.254"))).message
    await providers.close()


@pytest.mark.asyncio
async def test_all_addresses_of_a_machine_are_this_machine() -> None:
    async with scripted(FINE, FINE) as server:
        assert await ask(Endpoint("ollama", f"http://0.0.0.0:{server.port}")) == HI

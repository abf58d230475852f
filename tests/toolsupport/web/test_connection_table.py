"""The table of connections: which addresses are one client, who makes room, how long a phase may take."""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.test import override_settings

from tests.tables import every
from toolsupport.config import environment_values
from toolsupport.web import connection_limits, connection_table
from toolsupport.web.connection_table import ConnectionLimits, ConnectionTable, Phase


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@every(
    "one, other, same",
    [
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("2001:db8::1", "2001:db8:0:1::1", False),
    ],
)
def test_addresses_are_counted_by_the_network_a_client_has(one: str, other: str, same: bool) -> None:
    table = ConnectionTable(ConnectionLimits(per_address=1), Clock())
    first = table.admit(one)
    assert first
    first.enter(Phase.ANSWER)
    assert (table.admit(other) is None) == same


@every(
    "https, declared, host, passes",
    [
        (True, "", "10.0.0.5", True),
        (True, "", "203.0.113.5", False),
        (True, "10.1.0.0/16", "10.0.0.5", False),
        (True, "203.0.113.5", "203.0.113.5", True),
        (False, "", "10.0.0.5", False),
        (False, "", "127.0.0.1", True),
        (False, "203.0.113.5", "127.0.0.1", True),
    ],
)
def test_proxies_are_those_whose_forwarded_addresses_count(https: bool, declared: str, host: str, passes: bool) -> None:
    chosen = {**settings.ENV, "TOOLSUPPORT_TRUSTED_PROXIES": environment_values.networks(declared)}
    with override_settings(BEHIND_HTTPS=https, ENV=chosen):
        table = ConnectionTable(connection_limits.limits(), Clock())
    assert table.passes_on(host) == passes


@every(
    "proxies, host, limited",
    [
        ("", "127.0.0.1", False),
        ("", "::1", False),
        ("", "::ffff:127.0.0.1", False),
        ("", "10.0.0.5", True),
        ("10.0.0.0/24", "10.0.0.5", False),
        ("10.0.0.0/24", "10.0.1.5", True),
        ("2001:db8::/32", "2001:db8::7", False),
    ],
)
def test_proxies_have_no_limit_of_an_address(proxies: str, host: str, limited: bool) -> None:
    chosen = (*connection_table.LOOPBACK, *environment_values.networks(proxies))
    table = ConnectionTable(ConnectionLimits(per_address=1, proxies=chosen), Clock())
    first = table.admit(host)
    assert first
    first.enter(Phase.ANSWER)
    assert (table.admit(host) is None) == limited


def remember(closed: list[str], number: int, phase: Phase) -> None:
    closed.append(f"{number} {phase.name}")


def test_the_slowest_body_makes_room_where_nothing_else_waits() -> None:
    clock = Clock()
    table = ConnectionTable(ConnectionLimits(total=3), clock)
    closed: list[str] = []
    for number, received in enumerate((5000, 10, 90_000)):
        place = table.admit("127.0.0.1")
        assert place
        place.enter(Phase.BODY)
        place.received(received)
        place.expire = partial(remember, closed, number)
    clock.now = 5
    newest = table.admit("127.0.0.1")
    assert closed == ["1 CLOSING"] and newest and len(table.open) == 3


def test_half_requests_make_room_before_kept_connections() -> None:
    clock = Clock()
    table = ConnectionTable(ConnectionLimits(total=4), clock)
    closed: list[str] = []
    for number, phase in enumerate((Phase.IDLE, Phase.IDLE, Phase.HEAD, Phase.HEAD)):
        place = table.admit("127.0.0.1")
        assert place
        place.enter(phase)
        place.expire = partial(remember, closed, number)
    added = [table.admit("127.0.0.1") for _ in range(2)]
    assert closed == ["2 CLOSING", "3 CLOSING"] and all(added)
    added[0].enter(Phase.IDLE)  # type: ignore[union-attr]
    assert table.admit("127.0.0.1")
    assert closed[2:] == ["0 CLOSING"]  # more than half of the places were kept without a request


def test_bodies_are_held_up_to_a_limit_and_released() -> None:
    table = ConnectionTable(ConnectionLimits(bodies=100, address_bodies=40), Clock())
    places = [table.admit(host) for host in ("10.0.0.1", "10.0.0.1", "10.0.0.2", "127.0.0.1")]
    first, second, other, proxy = (place for place in places if place)
    assert first.hold(30) and not second.hold(20) and second.hold(10)
    assert other.hold(20) and proxy.hold(40) and not proxy.hold(1)  # all in all
    first.leave()
    assert second.hold(30) and not second.hold(1) and table.held == 100
    other.release()
    assert proxy.hold(20)


def test_no_more_are_closed_at_once_than_files_are_left() -> None:
    table = ConnectionTable(ConnectionLimits(total=2), Clock())
    admitted = [table.admit("127.0.0.1") for _ in range(2 + connection_table.MOST_LEAVING + 5)]
    assert admitted.count(None) == 5 and len(table.open) == 2
    first = admitted[0]
    assert first
    first.leave()  # its file is closed
    assert table.admit("127.0.0.1")


@every(
    "phase, count, seconds",
    [
        (Phase.HEAD, 500, 10),
        (Phase.IDLE, 0, 60),
        (Phase.BODY, 40_960, 30),
        (Phase.BODY, 10**9, 1800),
        (Phase.READER, 409_600, 160),
        (Phase.CLOSING, 0, 10),
        (Phase.ANSWER, 0, float("inf")),
    ],
)
def test_each_phase_has_its_time(phase: Phase, count: int, seconds: float) -> None:
    assert ConnectionLimits().seconds(phase, count) == seconds


@every("files, wanted, most", [(1024, 4096, 384), (20_000, 4096, 4096), (100, 4096, 25), (1024, 10, 10), (1, 9, 1)])
def test_connections_stay_below_the_limit_of_open_files(files: int, wanted: int, most: int) -> None:
    assert connection_table.within(files, wanted) == most

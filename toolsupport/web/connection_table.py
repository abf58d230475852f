"""Limits how many connections there are, in all and from one address, and how long each may wait for its peer."""

from __future__ import annotations

import logging
import resource
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from ipaddress import ip_network
from math import inf

from toolsupport.core import client_address
from toolsupport.core.client_address import Network

log = logging.getLogger(__name__)

LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
# Open files that are not connections of clients: rows, logs, workers, connections to model servers and MCP servers.
RESERVED_FILES = 256
# A body of more than 100 kB is a temporary file beside its connection.
FILES_PER_CONNECTION = 2
# Enough open files for the default number of connections.
MOST_FILES = 2**16
MIB = 1024 * 1024
SECONDS_BETWEEN_LINES = 60.0
MOST_LINES = 1000  # remembered log lines
# Connections that were closed to make room keep their files until the next round of the event loop.
MOST_LEAVING = 64


class Phase(Enum):
    """What a connection waits for."""

    HEAD = "the head of a request"
    IDLE = "the next request"
    BODY = "the body of a request"
    ANSWER = "the answer of the site"
    READER = "the client to read"
    CLOSING = "the end of the connection"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Numbers of connections, and seconds of each phase. Data has to flow at these rates, in bytes a second."""

    total: int = 4096
    per_address: int = 200
    proxies: Sequence[Network] = LOOPBACK  # exempt from the limit per address
    head: float = 10.0
    idle: float = 60.0
    body: float = 20.0  # besides its bytes
    whole_body: float = 1800.0
    reader: float = 60.0  # besides its bytes
    closing: float = 10.0  # besides its bytes
    body_rate: int = 4096
    read_rate: int = 4096
    bodies: int = 512 * MIB  # bytes of bodies that are held at once
    address_bodies: int = 160 * MIB

    def seconds(self, phase: Phase, count: int) -> float:
        """Return how long a phase may last in which `count` bytes were received or are unsent."""
        if phase is Phase.BODY:
            return min(self.whole_body, self.body + count / self.body_rate)
        if phase in (Phase.READER, Phase.CLOSING):
            return (self.reader if phase is Phase.READER else self.closing) + count / self.read_rate
        return {Phase.HEAD: self.head, Phase.IDLE: self.idle}.get(phase, inf)


def _ignore(phase: Phase) -> None:
    """Do nothing when the time of a phase is over: nothing is served yet, or no more."""


class Connection:
    """One accepted connection: its phase, and when that must be over."""

    def __init__(self, table: ConnectionTable, address: str, limited: bool) -> None:
        self.table, self.address, self.limited = table, address, limited
        self.expire: Callable[[Phase], None] = _ignore
        self.held = 0  # bytes of the body of the request that is received or answered
        self.phase = Phase.HEAD

    def enter(self, phase: Phase, unsent: int = 0) -> None:
        """Begin a phase; `unsent` is the number of bytes that the client has not read yet."""
        self.table.by_phase[self.phase].pop(self, None)
        self.phase, self.since, self.bytes = phase, self.table.clock(), unsent
        self.deadline = self.since + self.table.limits.seconds(phase, unsent)
        if self in self.table.open:
            self.table.by_phase[phase][self] = None

    def received(self, count: int) -> None:
        """Count bytes: the first one of a request begins its head, those of a body extend its deadline."""
        if self.phase is Phase.IDLE:
            self.enter(Phase.HEAD)
        self.bytes += count
        if self.phase is Phase.BODY:
            self.deadline = self.since + self.table.limits.seconds(Phase.BODY, self.bytes)

    def rate(self) -> float:
        """Bytes a second of the received body; 0 for a client that does not read."""
        return self.bytes / (self.table.clock() - self.since + 1) if self.phase is Phase.BODY else 0.0

    def hold(self, count: int) -> bool:
        """Reserve memory for so many more bytes of a body until it is answered; return False if there is no room."""
        limits = self.table.limits
        siblings = self.table.addresses.get(self.address, set()) if self.limited else set()
        theirs = sum(one.held for one in siblings)
        if self.table.held + count > limits.bodies or theirs + count > (limits.address_bodies if siblings else inf):
            return False
        self.held += count
        self.table.held += count
        return True

    def release(self) -> None:
        self.table.held -= self.held
        self.held = 0

    def leave(self) -> None:
        self.release()
        self.table.left(self)

    def lost(self) -> None:
        """Leave the table, and forget the protocol, which is freed at once then."""
        self.leave()
        self.expire = _ignore


class ConnectionTable:
    """All open connections of this process. `clock` is monotonic, in seconds."""

    def __init__(self, limits: ConnectionLimits, clock: Callable[[], float]) -> None:
        self.limits, self.clock = limits, clock
        self.open: set[Connection] = set()
        self.leaving: set[Connection] = set()
        self.held = 0
        self.addresses: dict[str, set[Connection]] = {}
        # In the order in which they began to wait.
        self.by_phase: dict[Phase, dict[Connection, None]] = {phase: {} for phase in Phase}
        self.lines: dict[str, float] = {}

    def admit(self, host: str) -> Connection | None:
        """Return a place for a connection from this address; if there is no room, a waiting one is closed.

        Return None if none can be closed without loss.
        """
        address, limited = client_address.network(host), not self.passes_on(host)
        siblings = self.addresses.get(address, set())
        if limited and len(siblings) >= self.limits.per_address:
            theirs = {phase: [one for one in self.by_phase[phase] if one in siblings] for phase in Phase}
            if not self.make_room(spare(theirs, self.limits.per_address), f"from {host}"):
                return None
        most = self.limits.total
        if len(self.open) >= most and not self.make_room(spare(self.by_phase, most), "in all"):
            return None
        connection = Connection(self, address, limited)
        self.open.add(connection)
        self.addresses.setdefault(address, set()).add(connection)
        connection.enter(Phase.HEAD)
        return connection

    def passes_on(self, host: str) -> bool:
        """Return True for a proxy, whose connections are those of many people."""
        address = client_address.parsed(host)
        return address is not None and any(address in network for network in self.limits.proxies)

    def make_room(self, one: Connection | None, where: str) -> bool:
        """Close this connection, if there is one; return False if not."""
        if one is None or len(self.leaving) >= MOST_LEAVING:
            self.note(f"refused a connection: too many are open {where}", logging.WARNING)
            return False
        self.note(
            f"closed a connection that waited for {one.phase.value}: too many are open {where}",
            logging.WARNING,
        )
        one.leave()
        self.leaving.add(one)
        one.expire(Phase.CLOSING)
        return True

    def left(self, one: Connection) -> None:
        self.open.discard(one)
        self.leaving.discard(one)
        self.by_phase[one.phase].pop(one, None)
        siblings = self.addresses.get(one.address, set())
        siblings.discard(one)
        if not siblings:
            self.addresses.pop(one.address, None)

    def sweep(self) -> None:
        """End every connection whose time is over."""
        now = self.clock()
        for one in [one for one in self.open if one.deadline <= now]:
            one.expire(one.phase)

    def note(self, line: str, level: int = logging.INFO) -> None:
        """Log a line that many connections may cause, once a minute."""
        now = self.clock()
        if now - self.lines.get(line, -inf) < SECONDS_BETWEEN_LINES:
            return
        if len(self.lines) > MOST_LINES:
            self.lines.clear()
        self.lines[line] = now
        log.log(level, "%s", line)


def spare(waiting: Mapping[Phase, Collection[Connection]], most: int) -> Connection | None:
    """Return the connection whose loss matters least, when the limit is reached.

    It is the oldest that waits for a head, which clients send within a second; or the oldest that waits for the next
    request, if those have taken half of all places; or the slowest body or reader.
    """
    heads, idle = waiting[Phase.HEAD], waiting[Phase.IDLE]
    for one in idle if len(idle) > most / 2 or not heads else heads:
        return one
    return min([*waiting[Phase.BODY], *waiting[Phase.READER]], key=Connection.rate, default=None)


def raise_file_limit() -> int:
    """Raise the limit of open files as far as allowed; return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


def within(files: int, wanted: int) -> int:
    """Return how many of the wanted connections fit into this many open files."""
    return max(1, min(wanted, (files - min(RESERVED_FILES, files // 2)) // FILES_PER_CONNECTION))

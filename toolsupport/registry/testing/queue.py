"""Chooses the next test to run: one at a time on a server that loads models on demand, else four.

Requests of exams and comparisons count too.
A server that loads a model for each request may have memory for only one. Two tests of different models then unload
each other's model with every request. Models that were seen loaded together may be tested together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from toolsupport.models import Detection, Server
from toolsupport.models.detections import OPEN
from toolsupport.registry.servers import server_slots
from toolsupport.registry.servers.server_slots import MOST, limit

LONGEST = 1000  # waiting tests that are looked at

NAMES = ("pk", "trigger", "profile_id", "profile__loaded", "profile__server_id", "profile__server__kind")


@dataclass(frozen=True, slots=True)
class QueuedDetection:
    """A waiting or running test, with the data that decides whether it may run beside another one."""

    pk: int
    trigger: str
    profile: int
    loaded: bool
    server: int
    kind: str


def waiting(idle: Callable[[int], bool]) -> Iterator[int]:
    """Return the tests (ids) that may start now, in order. Tests after a change wait for all others, and for an idle
    server.

    Call it in a transaction: each server is locked before its running tests are counted.
    """
    queued = _entries("queued")[:LONGEST]
    asked = sorted((entry for entry in queued if entry.trigger != "drift"), key=_order)
    seen: set[int] = set()
    for entry in asked or [entry for entry in queued if idle(entry.server)]:
        # The first test of a server that must wait blocks those after it, so that none waits for ever.
        if entry.server not in seen and _has_room(entry):
            yield entry.pk
        seen.add(entry.server)


def place(test: Detection) -> int:
    """Return its position among the tests that wait for the same server, from 1; 0 if it does not wait."""
    if test.status != "queued":
        return 0
    others = (entry for entry in _entries("queued") if entry.server == test.profile.server_id)
    waiting = [entry.pk for entry in sorted(others, key=_order)]
    # It may have been claimed since its row was read.
    return waiting.index(test.pk) + 1 if test.pk in waiting else 0


def rounds(tests: Iterable[int]) -> int:
    """Return how many of these tests (ids), if open, will run one after the other."""
    rows = Detection.objects.filter(pk__in=tests, status__in=OPEN)
    counted = Counter(rows.values_list("profile__server_id", "profile__server__kind"))
    return max((-(-count // limit(kind)) for (_, kind), count in counted.items()), default=0)


def _has_room(entry: QueuedDetection) -> bool:
    Server.objects.select_for_update().get(pk=entry.server)
    running = [other for other in _entries("running") if other.server == entry.server]
    others = len(server_slots.held(entry.server)) + server_slots.later_steps(entry.server)
    together = not others and entry.loaded and all(one.loaded and one.profile != entry.profile for one in running)
    room = len(running) + others < (MOST if together else limit(entry.kind))
    if not room and entry.trigger != "drift":
        server_slots.mark(entry.server)
    return room


def _entries(status: str) -> list[QueuedDetection]:
    rows = Detection.objects.filter(status=status).order_by("pk")
    return [QueuedDetection(*row) for row in rows.values_list(*NAMES)]


def _order(entry: QueuedDetection) -> tuple[int, int]:
    """Sort: tests that an answer waits for, tests that a person requested, tests after a change of the model."""
    return {"program": 0, "drift": 2}.get(entry.trigger, 1), entry.pk

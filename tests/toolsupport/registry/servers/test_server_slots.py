"""Tests of models, exams and comparisons share the requests that a server gets at once, in all processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from django.db.models.functions import Now

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.models import Lease, Server
from toolsupport.registry.servers import server_slots
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult

pytestmark = pytest.mark.django_db
KINDS = {"ollama": 1, "llamacpp": 1, "vllm": 4, "simulator": 4}


def queued(server: Server) -> int:
    return detections.open_test(DetectionRequest(ModelProfileFactory(server=server).pk, "page")).id


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_of_server_has_its_places(kind: str) -> None:
    server: Server = ServerFactory(kind=kind)
    other: Server = ServerFactory(kind=kind)
    names = [server_slots.take(server.pk, f"process {n}") for n in range(6)]
    assert [bool(name) for name in names] == [n < KINDS[kind] for n in range(6)]
    assert server_slots.take(other.pk, "process 0") != ""
    server_slots.release(names[0], "process 0")
    assert server_slots.take(server.pk, "process 5") == names[0]


def test_a_test_waits_for_an_exam_and_an_exam_for_a_test() -> None:
    server: Server = ServerFactory(kind="ollama")
    name, test = server_slots.take(server.pk, "exam"), queued(server)
    assert detections.claim("tester") is None
    server_slots.release(name, "exam")
    assert detections.claim("tester") == test
    assert server_slots.take(server.pk, "comparison", first=True) == ""
    assert detections.conclude(test, "tester", DetectionResult("inconclusive"))
    assert server_slots.take(server.pk, "comparison", first=True) != ""


def test_an_exam_leaves_the_next_place_to_what_waits() -> None:
    server: Server = ServerFactory(kind="ollama")
    name = server_slots.take(server.pk, "exam")
    assert server_slots.take(server.pk, "comparison", first=True) == ""
    server_slots.release(name, "exam")
    assert server_slots.take(server.pk, "exam") == ""
    name = server_slots.take(server.pk, "comparison", first=True)
    assert name != ""
    server_slots.release(name, "comparison")
    Lease.objects.filter(name__startswith=server_slots.NEXT).update(until=Now())
    assert server_slots.take(server.pk, "exam") != ""


def test_a_killed_process_holds_its_place_for_a_while_only() -> None:
    server: Server = ServerFactory(kind="ollama")
    assert server_slots.take(server.pk, "killed/exam/1/")
    server_slots.renew("killed/exam/1/")
    assert server_slots.take(server.pk, "another") == ""
    Lease.objects.filter(owner="killed/exam/1/").update(until=Now())
    server_slots.renew("killed/exam/1/")
    assert server_slots.take(server.pk, "another") != ""


def test_a_row_leaves_its_own_places_only() -> None:
    server: Server = ServerFactory(kind="vllm")
    for row in (1, 1, 12):
        assert server_slots.take(server.pk, server_slots.holder("process", "exam", row))
    server_slots.leave(server_slots.holder("process", "exam", 1))
    assert len(server_slots.held(server.pk)) == 1


@pytest.mark.django_db(transaction=True)
def test_processes_that_take_at_the_same_time_get_no_more() -> None:
    server: Server = ServerFactory(kind="vllm")
    together = Barrier(8)

    def taken(number: int) -> str:
        together.wait(30)
        try:
            return server_slots.take(server.pk, f"process {number}")
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        names = [name for name in pool.map(taken, range(8)) if name]
    assert len(names) == len(set(names)) == 4

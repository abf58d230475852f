"""Tests wait for their server: one at a time where it loads models on demand, else four."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.models import Detection, Server
from toolsupport.registry.testing import detection_reports, detections
from toolsupport.registry.testing import queue as testing_queue
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult

pytestmark = pytest.mark.django_db


def queue(server: Server, count: int, **columns: object) -> list[int]:
    """So many models of a server, each with a test that waits."""
    models = [ModelProfileFactory(server=server, **columns) for _ in range(count)]
    return [detections.open_test(DetectionRequest(model.pk, "page")).id for model in models]


def claimed() -> list[int]:
    """Everything that may begin now."""
    found = []
    while (test := detections.claim("w1")) is not None:
        found.append(test)
    return found


KINDS = {"ollama": 1, "llamacpp": 1, "lmstudio": 1, "localai": 1, "vllm": 4, "openai": 4, "groq": 4, "simulator": 4}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_server_has_its_room(kind: str) -> None:  # D7
    tests = queue(ServerFactory(kind=kind), 6)
    assert claimed() == tests[: KINDS[kind]]
    assert detections.conclude(tests[0], "w1", DetectionResult("inconclusive"))
    assert claimed() == [tests[KINDS[kind]]]


def test_a_full_server_holds_up_no_other() -> None:
    full, free = queue(ServerFactory(kind="ollama"), 30), queue(ServerFactory(kind="vllm"), 1)
    assert claimed() == [full[0], *free]


def test_models_that_were_seen_loaded_together_are_tested_together() -> None:
    tests = queue(ServerFactory(kind="ollama"), 2, loaded=True)
    assert claimed() == tests


def test_a_model_that_would_have_to_be_loaded_waits() -> None:
    server = ServerFactory(kind="ollama")
    tests = [*queue(server, 1, loaded=True), *queue(server, 1)]
    assert claimed() == tests[:1]


def test_two_tests_of_one_model_wait_for_one_another() -> None:
    model = ModelProfileFactory(loaded=True)
    tests = [detections.open_test(DetectionRequest(model.pk, "page", kind)).id for kind in ("tools", "formats")]
    assert claimed() == tests[:1]


def test_those_that_wait_are_shown_with_their_place() -> None:
    tests = queue(ServerFactory(kind="ollama"), 3)
    queue(ServerFactory(kind="ollama"), 1)
    assert [detection_reports.shown(test).place for test in tests] == [1, 2, 3]
    detections.claim("w1")
    assert [detection_reports.shown(test).place for test in tests] == [0, 1, 2]
    detections.cancel(tests[1])
    assert detection_reports.shown(tests[2]).place == 1


def test_a_test_that_was_claimed_since_it_was_read_has_no_place() -> None:
    test = Detection.objects.get(pk=detections.open_test(DetectionRequest(ModelProfileFactory().pk, "page")).id)
    assert testing_queue.place(test) == 1
    detections.claim("worker")
    assert testing_queue.place(test) == 0


def test_how_long_a_bulk_takes_follows_the_slowest_server() -> None:
    opened = [*queue(ServerFactory(kind="ollama"), 3), *queue(ServerFactory(kind="vllm"), 8)]
    assert testing_queue.rounds(opened) == 3
    assert testing_queue.rounds([]) == 0


def test_a_bulk_keeps_its_total_while_its_tests_end() -> None:
    ana, later = UserFactory(), timezone.now() + timedelta(seconds=9)
    old = detections.open_test(DetectionRequest(ModelProfileFactory().pk, "bulk", actor=ana.pk)).id
    Detection.objects.filter(pk=old).update(status="done", finished_at=timezone.now() - timedelta(hours=1))
    wanted = [DetectionRequest(ModelProfileFactory().pk, "bulk", actor=ana.pk) for _ in range(3)]
    first, second, _ = (one.id for one in detections.open_tests(wanted))
    Detection.objects.filter(pk__in=(first, second)).update(status="done", finished_at=later)
    for since in (0, first):
        found = detection_reports.bulk(ana.pk, since)
        assert found and (found.since, found.done, found.total) == (first, 2, 3)


@pytest.mark.django_db(transaction=True)
def test_several_processes_begin_one_test_on_such_a_server() -> None:  # D7
    tests = queue(ServerFactory(kind="ollama"), 6)
    together = Barrier(6)

    def claim(number: int) -> int | None:
        together.wait(10)
        try:
            return detections.claim(f"process {number}")
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        found = [test for test in pool.map(claim, range(6)) if test is not None]
    assert found == tests[:1]
    assert Detection.objects.filter(status="running").count() == 1

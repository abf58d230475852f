"""No page shows a word of the code or one that is not used (tests/words_on_pages.py)."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from tests.parameters import KINDS
from tests.test_permissions import ADDRESSES, visitor
from tests.test_queries import populate
from tests.words_on_pages import faults
from toolsupport.core import outcomes
from toolsupport.models import Detection
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, TrialRecord
from toolsupport.web import sentences

PAGES = {
    *("start", "account", "in-code", "families", "family-add", "models-import", "sources", "servers"),
    *("people", "audit"),
    *("prompts", "insights", "detection", "conversation-explain", "conversation-memory", "conversation-files"),
}


def a_tested_model() -> None:
    """A model whose test has one trial for each code, with tools named in its sentences."""
    profile = Detection.objects.latest("pk").profile_id
    test = detections.open_test(DetectionRequest(profile, "page", "per_tool")).id
    Detection.objects.exclude(pk=test).filter(status="queued").delete()
    assert test == detections.claim("worker")
    for n, (code, passed) in enumerate(outcomes.CODES.items()):
        response = {"code": code, "subject": "read_file"}
        detections.add_trial(test, "worker", TrialRecord("tool", n, {}, response, passed, "It called read_file."))
    result = DetectionResult("native", {"passed": 1, "tried": 1}, {}, "It called list_directory.", run_ms=900)
    detections.conclude(test, "worker", result)


@pytest.mark.django_db
def test_no_page_shows_words_of_the_code() -> None:
    person, client = visitor("admin")
    populate(person)
    a_tested_model()
    found: list[str] = []
    for address in ADDRESSES:
        if address.name in PAGES:
            given = [KINDS[name].own(person) for name in address.parameters]
            if address.name == "detection":
                given = [Detection.objects.filter(status="done").latest("pk").pk]
            answer: Any = client.get(reverse(address.name, args=given))
            assert answer.status_code == 200, address.name
            found += [f"{address.name}: {fault}" for fault in faults(answer.content.decode())]
    assert not found, "\n".join(found)
    assert {address.name for address in ADDRESSES} >= PAGES


def test_every_outcome_has_words() -> None:
    assert sentences.OUTCOMES.keys() == outcomes.CODES.keys()
    assert sentences.outcome("gone_for_long") == "Gone for long"


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<p>It called read_file.</p>", ["read_file: It called read_file."]),
        ("<p>It called <code>read_file</code>.</p><p dir=auto>a_b</p><bdi>a_b</bdi>", []),
        (
            "<p>Level A1: it only reads.</p>",
            ["A1: Level A1: it only reads.", "it only reads: Level A1: it only reads."],
        ),
        ('<button aria-label="Switch read_file off">Off</button>', []),
        ('<button aria-label="Source: declared">D</button>', ["declared: Source: declared"]),
        ("<p>The warehouse, untold <br>https://x/a_b</p><script>a_b</script>", ["a_b: https://x/a_b"]),
    ],
)
def test_a_word_of_the_code_would_be_found(page: str, found: list[str]) -> None:
    assert list(faults(page)) == found

"""The data of each model on the first visit: the claim of its server beside the proof of its newest test."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.models import ModelProfile, Server
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.testing import detections, evidence_overview
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, TrialRecord

pytestmark = pytest.mark.django_db
WELL = {"code": "right", "subject": "hermes", "calls": [{"name": "lookup", "arguments": {"ticket": "A1"}}]}

NO = {"tools": False}
VALUES: dict[str, dict[str, Any]] = {"native": {"tools": True}, "text": NO, "flaky": NO, "ignored": NO, "refused": NO}


def model(name: str, claims: bool | None) -> ModelProfile:
    server = ServerFactory(name=f"box of {name}")
    made: ModelProfile = ModelProfileFactory(name=f"{name}:latest", server=server, abilities=["completion"])
    if claims is not None:
        overrides.declare(made.pk, {"tools": claims})
    return made


def with_verdict(profile: ModelProfile, verdict: str, detail: dict[str, Any], *trials: TrialRecord) -> None:
    test = detections.open_test(DetectionRequest(profile.pk, "page")).id
    assert detections.claim("worker") == test
    for trial in trials:
        detections.add_trial(test, "worker", trial)
    values = VALUES.get(verdict, {}) | ({"format": detail["format"]} if verdict == "text" else {})
    detections.conclude(test, "worker", DetectionResult(verdict, detail, values, "Because.", run_ms=900))


def shown(name: str) -> tuple[str, str, str]:
    tile = next(tile for tile in evidence_overview.read(None).tiles if tile.name == name)
    return tile.claim, tile.evidence, tile.words


@pytest.mark.parametrize(
    ("claims", "verdict", "detail", "expected"),
    [
        (True, "native", {"passed": 3, "tried": 3}, ("Claims tools", "proven", "Calls tools 3 of 3")),
        (True, "ignored", {"passed": 0, "tried": 5}, ("Claims tools", "broken", "Ignores tools 0 of 5")),
        (True, "flaky", {"passed": 4, "tried": 9}, ("Claims tools", "broken", "Unreliable 4 of 9")),
        (True, "flaky", {"passed": 0, "tried": 5}, ("Claims tools", "broken", "Wrong calls 0 of 5")),
        (False, "refused", {}, ("Claims no tools", "off", "Refuses tools")),
        (None, "misconfigured", {"flag": "x"}, ("Claims nothing", "broken", "Server setting missing")),
        (None, "inconclusive", {"why": "cut"}, ("Claims nothing", "none", "Inconclusive")),
    ],
)
def test_a_tile_sets_the_proof_against_the_claim(
    claims: bool | None, verdict: str, detail: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    with_verdict(model("m", claims), verdict, detail)
    assert shown("m") == expected


def test_text_mode_counts_the_trials_of_its_own_format() -> None:
    with_verdict(model("m", False), "text", {"format": "hermes", "native": "ignored", "passed": 2, "tried": 2})
    assert shown("m") == ("Claims no tools", "text", "Hermes 2 of 2")
    # Earlier tests counted the trials of native calls there.
    with_verdict(model("old", True), "text", {"format": "hermes", "passed": 0, "tried": 5})
    assert shown("old") == ("Claims tools", "text", "Hermes")


def test_a_claim_is_no_proof_and_a_test_that_runs_is_neither() -> None:
    profile = model("m", True)
    assert shown("m") == ("Claims tools", "claimed", "Not tested")
    test = detections.open_test(DetectionRequest(profile.pk, "page")).id
    assert shown("m") == ("Claims tools", "claimed", "Queued")
    detections.claim("worker")
    steps = [
        {"step": "declared", "state": "done"},
        {"step": "called", "state": "running"},
        {"step": "formats", "state": "waiting"},
    ]
    detections.renew(test, "worker", steps)
    assert shown("m") == ("Claims tools", "testing", "Step 2 of 3")
    found = evidence_overview.read(None)
    assert (found.testing, found.tested, found.untested) == (1, 0, [])


def test_a_proof_of_another_build_is_none(bob: User) -> None:
    profile = model("m", True)
    with_verdict(profile, "native", {"passed": 3, "tried": 3})
    profile.digest = "another"
    profile.save()
    assert shown("m")[1:] == ("claimed", "Not tested")
    overrides.add(NewOverride(profile.pk, "tools", False, actor=bob.pk))
    assert shown("m")[1:] == ("off", "Turned off by bob")


def test_models_of_servers_without_claims_are_counted_too() -> None:
    with_verdict(model("calls", None), "native", {"passed": 3, "tried": 3})
    with_verdict(model("writes", None), "text", {"format": "hermes"}, TrialRecord("formats", 1, {}, WELL, True, ""))
    with_verdict(model("ignores", None), "ignored", {"passed": 0, "tried": 5})
    found = evidence_overview.read(None)
    assert (found.native, found.claiming, found.others, found.not_claiming) == ((0, 0), 0, (2, 3), 3)
    assert found.others_call


def test_the_headline_counts_tested_models_only() -> None:
    with_verdict(model("calls", True), "native", {"passed": 3, "tried": 3})
    with_verdict(model("ignores", True), "ignored", {"passed": 0, "tried": 5})
    with_verdict(model("cut", True), "inconclusive", {})
    model("new", True)
    with_verdict(model("writes", False), "text", {"format": "hermes"}, TrialRecord("formats", 1, {}, WELL, True, ""))
    with_verdict(model("refuses", False), "refused", {})
    found = evidence_overview.read(None)
    assert (found.native, found.others, found.tested, found.total) == ((1, 2), (1, 2), 5, 6)
    assert not found.others_call
    assert found.inconclusive == 1
    assert found.best and found.best.name == "calls"
    assert found.without and found.without.name == "writes"


def test_the_surprise_is_the_clearest_contradiction_with_its_own_trial() -> None:
    assert evidence_overview.read(None).surprise is None
    with_verdict(model("as claimed", True), "native", {"passed": 3, "tried": 3})
    assert evidence_overview.read(None).surprise is None
    with_verdict(
        model("better", False),
        "text",
        {"format": "hermes"},
        TrialRecord("formats", 1, {}, WELL, True, ""),
    )
    found = evidence_overview.read(None).surprise
    assert found and (found.tile.name, found.reply, found.reason) == ("better", "lookup(ticket: A1)", "Because.")
    silent = TrialRecord("called", 1, {}, {"code": "no_call", "text": "I cannot\n\nlook " + "x" * 400}, False, "")
    with_verdict(model("worse", True), "ignored", {"passed": 0, "tried": 5}, silent)
    found = evidence_overview.read(None).surprise
    assert found and found.tile.name == "worse" and found.claimed == '"completion"'
    assert found.reply.startswith("I cannot look x") and len(found.reply) == evidence_overview.LONGEST + 1


def test_no_task_is_offered_with_a_model_of_a_dead_server() -> None:
    with_verdict(model("calls", None), "native", {"passed": 3, "tried": 3})
    with_verdict(model("writes", None), "text", {"format": "hermes"})
    found = evidence_overview.read(None)
    assert found.best and found.best.name == "calls"
    assert found.without and found.without.name == "writes"
    Server.objects.update(reachable=False)
    found = evidence_overview.read(None)
    assert (found.best, found.without, len(found.tiles)) == (None, None, 2)
    Server.objects.update(reachable=None)
    found = evidence_overview.read(None)
    assert found.best and found.without, "a server that was not asked yet may answer"

"""The evidence of one capability: trials of a test are shown even if it decided nothing (D1, D8)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.models import Detection, ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.models import capability_evidence, profiles
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult, TrialRecord

pytestmark = pytest.mark.django_db

# Step, subject, results of its trials.
Made = tuple[str, str, tuple[bool | None, ...]]
MIXED: tuple[Made, ...] = (
    ("called", "", (True, True, True)),
    ("parallel", "", (True, False, None, True)),
    ("control", "", (False,)),
    ("per_tool", "read_file", (True, False)),
    ("per_tool", "bash", (None,)),
)
REFUSED: tuple[Made, ...] = (
    ("accepted", "bare", (True,)),
    ("accepted", "tools", (False, False)),
    ("formats", "hermes", (False, False)),
    ("formats", "mistral", (False,)),
)


def end_test(profile: ModelProfile, made: tuple[Made, ...], result: DetectionResult) -> int:
    """A finished test with these trials, whose progress counts them by step as that of the worker does."""
    test = detections.open_test(DetectionRequest(profile.pk, "page", "tools")).id
    assert test == detections.claim("worker")
    sums: dict[str, list[int]] = {}
    for step, subject, outcomes in made:
        passed, tried = sums.setdefault(step, [0, 0])
        sums[step] = [passed + outcomes.count(True), tried + len(outcomes) - outcomes.count(None)]
        for n, outcome in enumerate(outcomes):
            detections.add_trial(test, "worker", TrialRecord(step, n, {}, {"subject": subject}, outcome, "It did."))
    steps = [{"step": step, "state": "done", "passed": p, "tried": t} for step, (p, t) in sums.items()]
    detections.renew(test, "worker", steps)
    assert detections.conclude(test, "worker", result)
    return test


def native(**values: Any) -> DetectionResult:
    return DetectionResult("native", {"passed": 3, "tried": 3}, {"tools": True, **values}, "Called natively.")


def cells(profile: ModelProfile) -> dict[str, tuple[str, str, str]]:
    (row,) = profiles.listed([profile.pk])
    return {cell.capability: (cell.state, cell.sign, cell.words) for cell in row.cells}


def test_trials_that_decide_nothing_are_no_missing_evidence() -> None:
    profile = ModelProfileFactory()
    end_test(profile, MIXED, native())
    found = cells(profile)
    assert found["tools"][:2] == ("yes", "✓")
    assert found["parallel"] == ("tried", "~", "2 of 3 trials passed")
    assert found["leaves_alone"] == ("tried", "?", "0 of 1 trials passed")
    assert found["tool:read_file"] == ("tried", "~", "1 of 2 trials passed")
    assert found["tool:bash"][0] == found["multi_turn"][0] == "unknown"
    page = {cell.capability: cell.state for cell in profiles.shown(profile.pk).cells}
    assert (page["parallel"], page["tool:read_file"], page["multi_turn"]) == ("tried", "tried", "unknown")


def test_the_panel_of_an_undecided_capability_contradicts_itself_nowhere() -> None:
    profile = ModelProfileFactory()
    end_test(profile, MIXED, native())
    found = capability_evidence.of(profile.pk, "parallel")
    assert (found.cell.state, found.counted, len(found.trials)) == ("tried", "2 of 3", 4)
    assert [link.words for link in found.chain if link.title == "Test"] == ["2 of 3 trials passed"]
    assert found.cell.reason == "2 of 3 trials passed, which is not enough to decide."


def test_a_claim_is_read_aloud_as_a_claim() -> None:
    profile = ModelProfileFactory()
    overrides.declare(profile.pk, {"vision": True})
    end_test(profile, MIXED, native(parallel=True))
    spoken = {cell.capability: cell.spoken for cell in profiles.shown(profile.pk).cells}
    assert spoken["vision"] == "Vision: yes, claimed by the server"
    assert spoken["parallel"] == "Parallel calls: yes, test"
    assert spoken["multi_turn"] == "Multi-turn: not measured"


def test_the_panel_writes_a_count_beside_the_state_once(client: Client) -> None:
    profile = ModelProfileFactory()
    end_test(profile, MIXED, native())
    client.force_login(UserFactory(role="viewer"))
    for capability, beside in (("parallel", 0), ("tools", 1)):
        part = client.get(f"/models/{profile.pk}/evidence/", {"capability": capability}, headers={"HX-Request": "true"})
        head = part.content.decode().partition("<ol")[0]
        assert len(re.findall(r"<span>\d of \d</span>", head)) == beside, capability


def test_a_decided_value_and_a_value_of_a_person_stay() -> None:
    profile = ModelProfileFactory()
    end_test(profile, MIXED, native(parallel=False))
    assert cells(profile)["parallel"] == ("no", "✕", "no")


def test_trials_of_an_older_build_do_not_count() -> None:
    profile = ModelProfileFactory(digest="sha256:old")
    end_test(profile, MIXED, native())
    ModelProfile.objects.filter(pk=profile.pk).update(digest="sha256:new")
    assert cells(profile)["parallel"][0] == "unknown"


def test_refusals_are_the_trials_of_native_tools_where_nothing_could_be_called() -> None:
    profile = ModelProfileFactory()
    test = end_test(profile, REFUSED, DetectionResult("refused", {}, {"tools": False}, "Refused."))
    found = capability_evidence.of(profile.pk, "tools")
    assert (found.counted, [trial.response["subject"] for trial in found.trials]) == ("0 of 2", ["tools", "tools"])
    own = capability_evidence.about("tools", False, capability_evidence.tried([test]))
    assert [trial.passed for trial in own] == [False, False]
    assert cells(profile)["format"] == ("tried", "✕", "0 of 3 trials passed")
    assert (
        capability_evidence.of(profile.pk, "format").cell.reason == "None of the text formats that were tried worked."
    )


def test_an_inconclusive_test_is_one() -> None:
    profile = ModelProfileFactory()
    end_test(profile, (("accepted", "tools", (None,)),), DetectionResult("inconclusive", {}, {}, "Late."))
    words = {link.title: link.words for link in capability_evidence.of(profile.pk, "tools").chain}
    assert words["Test"] == "Inconclusive"
    assert Detection.objects.get().verdict == "inconclusive"


# Verdict → its trials, its result; then the native cell, the word of the test in the chain, the count, the badge.
CALLED: Made = ("called", "", (True, True, False, True, True, False, True, True))
FORMATS: tuple[Made, ...] = (("formats", "hermes", (False,) * 29), ("formats", "forced_json", (True, True)))
AGREED = {
    "flaky": (
        (CALLED,),
        DetectionResult("flaky", {"passed": 6, "tried": 8}, {"tools": True}, "Mixed."),
        ("tools", "~", "6 of 8 trials passed", "Yes, but unreliable", "6 of 8", "broken"),
    ),
    "misconfigured": (
        (),
        DetectionResult("misconfigured", {"flag": "--jinja"}, {}, "No."),
        ("tools", "✕", "server setting missing", "Server setting missing", "", "broken"),
    ),
    "one way of thinking": (
        (("called", "", (True,) * 3 + (False,) * 5),),
        native(tools_thinking="off_only"),
        ("tools", "✓", "yes", "Yes", "3 of 3", "proven"),
    ),
    "text": (
        FORMATS,
        DetectionResult("text", {"passed": 2, "tried": 2}, {"tools": False, "format": "forced_json"}, "Text."),
        ("format", "✓", "Constrained JSON", "Constrained JSON", "2 of 2", "text"),
    ),
}


@pytest.mark.parametrize("case", AGREED)
def test_matrix_page_and_panel_agree_with_the_badge(case: str) -> None:
    made, result, (capability, sign, words, in_chain, counted, state) = AGREED[case]
    profile = ModelProfileFactory()
    end_test(profile, made, result)
    panel = capability_evidence.of(profile.pk, capability)
    (row,), page = profiles.listed([profile.pk]), profiles.shown(profile.pk)
    for cell in (panel.cell, *row.cells, *page.cells):
        assert cell.capability != capability or (cell.sign, cell.words) == (sign, words)
    assert [link.words for link in panel.chain if link.title == "Test"] == [in_chain]
    assert (panel.counted, row.evidence.state, page.model.evidence.state) == (counted, state, state)
    shown = capability_evidence.about_calls(
        row.evidence, page.known["format"].value, capability_evidence.tried([row.evidence.test])
    )
    assert row.evidence.state != "text" or f"{sum(one.passed is True for one in shown)} of {len(shown)}" == counted


def test_the_file_tools_of_many_models_take_one_query(django_assert_num_queries: Any) -> None:
    for _ in range(3):
        end_test(ModelProfileFactory(), MIXED, native())
    profiles.listed()
    with django_assert_num_queries(4):
        profiles.listed()


@pytest.mark.parametrize("capability", ["tools", "vision", "format", "context"])
def test_where_nothing_applies_the_last_source_is_in_force_and_not_measured(capability: str) -> None:
    chain = capability_evidence.of(ModelProfileFactory(family="").pk, capability).chain
    assert (chain[-1].title, chain[-1].state, chain[-1].words) == ("Built-in default", "in_force", "Not measured")
    assert "Unknown" not in {link.words for link in chain}

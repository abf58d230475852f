"""Which entries of the history are one row, and what is written there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.tables import every
from toolsupport.core.history_sentences import (
    BundleFacts,
    EventKey,
    about_bundle,
    bundled,
    common_evidence,
    evidence,
    who,
)

NOON = datetime(2026, 11, 22, 12, 0, 10, tzinfo=UTC)


def key(second: int = 0, kind: str = "override", source: str = "user_confirmed", actor: str = "Ana", act: int = 0):
    return EventKey(kind, source, actor, NOON + timedelta(seconds=second), act)


BUNDLED = [
    ("nothing", [], []),
    ("one", [key()], [1]),
    ("same minute", [key(0), key(49)], [2]),
    ("the next minute, ten seconds later", [key(45), key(55)], [1, 1]),
    ("another kind", [key(), key(kind="proposal")], [1, 1]),
    ("another source", [key(source="declared"), key(source="auto_detected")], [1, 1]),
    ("another person", [key(), key(actor="Ben")], [1, 1]),
    ("one act over five minutes", [key(0, act=7), key(300, act=7)], [2]),
    ("two acts in one minute", [key(act=7), key(act=8)], [1, 1]),
    ("an act and an entry of its own", [key(act=7), key()], [1, 1]),
    ("others between them", [key(0), key(1, actor="Ben"), key(2)], [2, 1]),
]


@every("case, keys, sizes", BUNDLED)
def test_entries_of_one_act_or_one_minute_are_one_row(case: str, keys: list[EventKey], sizes: list[int]) -> None:
    groups = bundled(keys, lambda one: one)
    assert [len(group) for group in groups] == sizes, case
    assert sorted(map(id, (one for group in groups for one in group))) == sorted(map(id, keys))


def facts(kind: str, changes: int, models: int, **more: object) -> BundleFacts:
    fields = {"source": "user_confirmed", "actor": "Ana", "server": "gpu-1", "model": "qwen3:8b"} | more
    return BundleFacts(kind, changes=changes, models=models, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (
            facts("detection", 4, 4, verdicts={"native": 2, "ignored": 1, "flaky": 1}),
            "Test of 4 models: 2 proven, 2 broken",
        ),
        (facts("detection", 1, 1, verdicts={"": 1}), "Test of qwen3:8b: 1 without a verdict"),
        (facts("override", 90, 30, source="declared", actor=""), "gpu-1 claims 90 values of 30 models"),
        (facts("override", 3, 1), "Ana set 3 values of qwen3:8b"),
        (facts("withdrawal", 2, 2, actor=""), "2 values of 2 models removed"),
        (facts("proposal", 2, 1), "Ana proposes 2 values of qwen3:8b"),
        (facts("drift", 1200, 1200, actor=""), "New build of 1,200 models"),
    ],
)
def test_a_bundle_is_one_sentence(about: BundleFacts, words: str) -> None:
    assert about_bundle(about) == words


def test_who_and_what_evidence() -> None:
    assert who("override", "declared", "") == "The server claims"
    assert (who("detection", "auto_detected", "Ana"), who("detection", "auto_detected", "")) == (
        "Ana tested",
        "Tested automatically",
    )
    assert who("proposal", "user_confirmed", "Ben") == "Ben proposes"
    # Agreement is a verdict of a review: no evidence.
    assert (evidence("detection", "text"), evidence("review", "agree")) == (("text", "Text mode"), ("off", ""))


def test_a_bundle_has_the_state_that_all_its_tests_have() -> None:
    assert common_evidence("detection", ["ignored", "flaky"]) == "broken"
    assert common_evidence("detection", ["native", "ignored"]) == ""
    assert common_evidence("review", ["agree", "disagree"]) == "off"

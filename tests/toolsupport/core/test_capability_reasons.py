"""The sentence that names what a value overrides names nothing twice."""

from __future__ import annotations

from dataclasses import replace

from tests.tables import every
from toolsupport.core.capability_reasons import in_force
from toolsupport.core.override_ranking import OverrideRow, OverrideStatus

TEST = OverrideRow(2, 2, "tools", True, "auto_detected", created_at="2026-11-12T10:00:00Z")
CLAIM = replace(TEST, id=3, seq=3, source="declared")
ANA = replace(TEST, source="user_confirmed", actor="Ana")
# What decides, and what is overridden → the sentence.
SENTENCES = {
    "of another day": (
        (TEST, replace(TEST, created_at="2026-11-03T10:00:00Z")),
        "The test of 12 Nov 2026 overrides the test of 3 Nov 2026.",
    ),
    "of the same day": ((TEST, replace(TEST, id=1, seq=1)), "The test of 12 Nov 2026 overrides an earlier one."),
    "of the same day, and a claim": (
        (TEST, replace(TEST, id=1, seq=1), CLAIM),
        "The test of 12 Nov 2026 overrides an earlier one and the server's claim of 12 Nov 2026.",
    ),
    "of the same person": (
        (ANA, replace(ANA, id=1, seq=1, value=False)),
        "Ana's override of 12 Nov 2026 overrides an earlier one.",
    ),
    "of another person": (
        (ANA, replace(ANA, actor="Ben")),
        "Ana's override of 12 Nov 2026 overrides Ben's override of 12 Nov 2026.",
    ),
}


@every("rows, sentence", SENTENCES.values())
def test_a_source_of_one_day_is_named_once(rows: tuple[OverrideRow, ...], sentence: str) -> None:
    first, *others = (OverrideStatus(row.capability, row.value, row.source, claim=row) for row in rows)
    assert in_force(first, others, None) == sentence

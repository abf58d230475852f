"""Counts the trials of the capabilities that a test tried without deciding them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from toolsupport.core.types import JSON, Capabilities
from toolsupport.models import Detection, ModelProfile, Trial
from toolsupport.registry.knowledge.model_evidence import EvidenceTests

# Capability → the step of a test that tries it. Tools of files share one step.
STEPS = {"format": "formats", "parallel": "parallel", "multi_turn": "second_turn", "leaves_alone": "control"}
PER_TOOL = "per_tool"


@dataclass(frozen=True, slots=True)
class TrialCount:
    """How many trials of a capability passed; `at` is the end of the test (ISO 8601)."""

    passed: int
    tried: int
    at: str = ""

    @property
    def share(self) -> str:
        return f"{self.passed} of {self.tried}"


Counts = Mapping[str, TrialCount]  # by capability


def of_each(
    profiles: Collection[ModelProfile], known: Mapping[int, Capabilities], tests: EvidenceTests
) -> Mapping[int, Counts]:
    """Return the counts by model and capability: from the newest test of the present build, for values still unknown.

    One query, where a test could not decide a tool.
    """
    ended = {row.pk: tests.newest.get(row.pk) for row in profiles}
    current = {row.pk: test for row in profiles if (test := ended[row.pk]) and test.build_key == row.build.key}
    found = {
        pk: {name: count for name, count in _of_steps(test).items() if not known[pk][name].known}
        for pk, test in current.items()
    }
    # If all trials passed, every tool is decided.
    mixed = {test.pk: pk for pk, test in current.items() if (count := _step(test, PER_TOOL)) and count[0] < count[1]}
    for made_by, tool, passed, tried in _of_tools(mixed):
        profile = mixed[made_by]
        if not known[profile][f"tool:{tool}"].known:
            found[profile][f"tool:{tool}"] = TrialCount(passed, tried, _at(current[profile]))
    return found


def _of_steps(test: Detection) -> dict[str, TrialCount]:
    counts = {name: _step(test, step) for name, step in STEPS.items()}
    return {name: TrialCount(*count, _at(test)) for name, count in counts.items() if count}


def _step(test: Detection, name: str) -> tuple[int, int] | None:
    """Return the trials of a step that passed, and those that count; None where none was made."""
    found: JSON = next((step for step in test.progress if step.get("step") == name), {})
    return (int(found["passed"]), int(found["tried"])) if found.get("tried") else None


def _of_tools(tests: Collection[int]) -> Collection[tuple[int, str, int, int]]:
    if not tests:
        return ()
    rows = Trial.objects.filter(detection__in=tests, step=PER_TOOL).exclude(passed=None).order_by()
    counted = rows.values_list("detection", "response__subject")
    return counted.annotate(right=Count("pk", filter=Q(passed=True)), made=Count("pk"))


def _at(test: Detection) -> str:
    return test.finished_at.isoformat() if test.finished_at else ""

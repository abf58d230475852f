"""Orders the first tests of a site so that most results are there early."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.models import ModelProfile
from toolsupport.registry.servers import server_slots

SECONDS = 40.0  # how long the tests of a first visit may take
AT_LEAST = 2  # models of each server that are tested first, at any duration
# Without an earlier test: a test's own time, and that of a gigabyte to load and to compute. A model that thinks writes
# several times as much.
BASE, EACH_GIGABYTE, THINKING = 5.0, 4.0, 3.0


@dataclass(frozen=True, slots=True)
class ExpectedTest:
    """A model (id) without a verdict; `seconds` is the expected duration of its test, `lanes` how many run at once on
    its server. `claims` is whether its server claims tools: only such a claim can be contradicted by a failure.
    """

    profile: int
    server: int
    seconds: float
    lanes: int
    claims: bool = False


def expected(row: ModelProfile, last_ms: int, claims: bool = False) -> ExpectedTest:
    """Return the expected duration of a test of this model; `last_ms` is that of the last one, 0 without any."""
    return ExpectedTest(
        row.pk, row.server_id, last_ms / 1000 or _guess(row), server_slots.limit(row.server.kind), claims
    )


def in_order(tests: Sequence[ExpectedTest]) -> list[int]:
    """Return the models, the quickest test first; of those that take the same time, the ones that claim tools."""
    return [test.profile for test in sorted(tests, key=_order)]


def first(tests: Sequence[ExpectedTest]) -> tuple[list[int], int]:
    """Return the models whose tests end within SECONDS, the quickest first, and when the last one is expected to end.

    Servers work side by side, so each has its own seconds.
    """
    chosen: dict[int, list[int]] = defaultdict(list)
    total: dict[int, float] = defaultdict(float)
    for test in sorted(tests, key=_order):
        after = total[test.server] + test.seconds / test.lanes
        if after <= SECONDS or len(chosen[test.server]) < AT_LEAST:
            chosen[test.server].append(test.profile)
            total[test.server] = after
    quick = {profile for profiles in chosen.values() for profile in profiles}
    return [profile for profile in in_order(tests) if profile in quick], round(max(total.values(), default=0))


def _order(test: ExpectedTest) -> tuple[float, bool]:
    return test.seconds, not test.claims


def _guess(row: ModelProfile) -> float:
    seconds = BASE + EACH_GIGABYTE * (row.size_bytes or 0) / 1e9
    return seconds * THINKING if "thinking" in row.abilities else seconds

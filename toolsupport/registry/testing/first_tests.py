"""Orders the first tests of a site so that most results are there early."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from toolsupport.models import ModelProfile
from toolsupport.registry.testing import queue

SECONDS = 40.0  # how long the tests of a first visit may take
AT_LEAST = 2  # models of each server that are tested first, however long they take
# Without an earlier test: a test's own time, and that of a gigabyte to load and to compute. A model that thinks writes
# several times as much.
BASE, EACH_GIGABYTE, THINKING = 8.0, 4.0, 3.0
# Simulated models that are quick to test, with the seconds of a test measured beside three others. The rest load
# slowly, think long, never answer, or get every text format tried on them.
SIMULATED: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(("sim-honest", "sim-hermes", "sim-misconfigured", "sim-unknown", "sim-silent"), 2.0),
        **dict.fromkeys(("sim-mistral", "sim-pythonic", "sim-json", "sim-llama4", "sim-olmo3", "sim-lfm2"), 3.0),
        **dict.fromkeys(("sim-mistral-args", "sim-llama3-json", "sim-qwen3-coder-xml", "sim-broken-json"), 3.5),
        **dict.fromkeys(("sim-thinks-off", "sim-python", "sim-parallel-less", "sim-loops", "sim-dies"), 5.0),
        **dict.fromkeys(("sim-fickle", "sim-sees", "sim-drifts", "sim-shell", "sim-hopeless-json"), 6.0),
        **dict.fromkeys(("sim-thinks-aloud", "sim-thinks-inside", "sim-code", "sim-truncates"), 7.0),
    }
)
LATER = 300.0  # a simulated model that is not in the table


@dataclass(frozen=True, slots=True)
class ExpectedTest:
    """A model (id) without a verdict; `seconds` is the expected duration of its test, `lanes` how many run at once on
    its server.
    """

    profile: int
    server: int
    seconds: float
    lanes: int


def expected(row: ModelProfile, last_ms: int) -> ExpectedTest:
    """Return what a test of this model will take; `last_ms` is the duration of the last one, 0 without any."""
    return ExpectedTest(row.pk, row.server_id, last_ms / 1000 or _guess(row), queue.limit(row.server.kind))


def in_order(tests: Sequence[ExpectedTest]) -> list[int]:
    """Return the models, the quickest test first."""
    return [test.profile for test in sorted(tests, key=lambda test: test.seconds)]


def first(tests: Sequence[ExpectedTest]) -> tuple[list[int], int]:
    """Return the models whose tests end within SECONDS, the quickest first, and when the last one is expected to end.

    Servers work side by side, so each has its own seconds.
    """
    chosen: dict[int, list[int]] = defaultdict(list)
    total: dict[int, float] = defaultdict(float)
    for test in sorted(tests, key=lambda test: test.seconds):
        after = total[test.server] + test.seconds / test.lanes
        if after <= SECONDS or len(chosen[test.server]) < AT_LEAST:
            chosen[test.server].append(test.profile)
            total[test.server] = after
    quick = {profile for profiles in chosen.values() for profile in profiles}
    return [profile for profile in in_order(tests) if profile in quick], round(max(total.values(), default=0))


def _guess(row: ModelProfile) -> float:
    if row.server.simulated:
        return SIMULATED.get(row.name.removesuffix(":latest"), LATER)
    seconds = BASE + EACH_GIGABYTE * (row.size_bytes or 0) / 1e9
    return seconds * THINKING if "thinking" in row.abilities else seconds

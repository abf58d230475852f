"""Limits how long the answers of a test may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """Times in seconds. `load`: until the first token of a model that its server still has to load.

    `first`: the same if nothing shows that it must be loaded; `silent`: for a server that did not even list its models.
    `answer` is for one answer of a loaded model, `total` for the whole test without loading, `thinking` for the test of
    a model that was seen to think. `pause` is between requests to a server that reports loading.
    """

    load: float = 300.0
    first: float = 120.0
    silent: float = 30.0
    answer: float = 5.0
    total: float = 120.0
    thinking: float = 300.0
    pause: float = 1.0


LIMITS = ProbeLimits()

"""How long the answers of a test may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """Seconds. `load`: until the first word of a model that its server has still to load.

    `first`: the same where nothing shows that it has to be loaded; `silent`: of a server that did not even list its
    models. `answer` is for one answer of a loaded model, `total` for the whole test without loading, `thinking` for
    the test of a model that was seen to think. `pause` is between requests to a server that says it is loading.
    """

    load: float = 300.0
    first: float = 120.0
    silent: float = 30.0
    answer: float = 5.0
    total: float = 120.0
    thinking: float = 300.0
    pause: float = 1.0


LIMITS = ProbeLimits()

"""The time for which a model stays loaded."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.tables import every
from toolsupport.simulator import duration


@every(
    ("value", "seconds"),
    [(None, 300), (0, 0), (10, 10), (1.5, 1.5), ("5m", 300), ("1h30m", 5400), ("250ms", 0.25), ("0", 0), (".5s", 0.5)],
)
def test_reads_numbers_and_go_durations(value: Any, seconds: float) -> None:
    assert duration.seconds(value) == pytest.approx(seconds)
    assert duration.fault(value) == ""


@pytest.mark.parametrize("value", [-1, "-1s", "-5m"])
def test_below_zero_is_for_ever(value: Any) -> None:
    assert duration.seconds(value) == math.inf

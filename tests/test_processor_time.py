"""A limit on processor time fails for more work, on a slow machine too."""

from __future__ import annotations

import pytest

from tests.processor_time import EVERY, StepTimes, must_cost_at_most, slowness, within


@pytest.mark.parametrize("spent", [0.5, 1.0])
def test_work_within_the_limit_passes(spent: float) -> None:
    with must_cost_at_most(1, iter((5.0, 5.0 + spent)).__next__):
        assert within(spent, 1)


def test_work_beyond_the_limit_fails() -> None:
    with pytest.raises(AssertionError, match="1 s are permitted"), must_cost_at_most(1, iter((5.0, 1_005.0)).__next__):
        pass


def test_a_limit_is_wider_by_how_much_slower_the_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.processor_time.slowness", lambda: 2.0)
    assert within(1.9, 1) and not within(2.1, 1)


def test_no_machine_narrows_a_limit() -> None:
    assert slowness() >= 1


def test_a_step_is_compared_with_the_speed_of_the_machine_between_the_steps() -> None:
    speeds = iter([1.0, *[2.0] * 10, 9.0])
    steps = StepTimes(lambda: next(speeds))
    for number in range(11 * EVERY):
        steps.add(0.08 if number == 3 else 0.01)
    assert steps.longest() == 0.04


def test_one_stolen_moment_widens_no_limit() -> None:
    speeds = iter([9.0, *[1.0] * 20])
    steps = StepTimes(lambda: next(speeds))
    for _ in range(20 * EVERY):
        steps.add(0.08)
    assert steps.longest() == 0.08

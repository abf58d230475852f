"""A limit on processor time fails for more work, on a slow machine too."""

from __future__ import annotations

import pytest

from tests.processor_time import must_cost_at_most, slowness, within


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

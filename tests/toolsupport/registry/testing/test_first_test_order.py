"""The first tests of a site: the quick ones, and no more than end soon."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.registry.testing import first_test_order
from toolsupport.registry.testing.first_test_order import SECONDS, ExpectedTest
from toolsupport.simulator.models import MODELS

GB = 10**9


def lasting(*seconds: float, server: int = 1, lanes: int = 1) -> list[ExpectedTest]:
    return [ExpectedTest(server * 100 + n, server, each, lanes) for n, each in enumerate(seconds)]


def test_the_quickest_come_first_until_the_time_is_over() -> None:
    assert first_test_order.first(lasting(30, 5, 8, 90, 20)) == ([101, 102, 104], 33)
    assert first_test_order.first(lasting(30, 5, 8, 90, 20, lanes=4)) == ([101, 102, 104, 100, 103], 38)


def test_each_server_has_its_own_time_and_at_least_two_models() -> None:
    chosen, seconds = first_test_order.first([*lasting(300, 200, 100), *lasting(10, 20, server=2)])
    assert (chosen, seconds) == ([200, 201, 102, 101], 300)
    assert first_test_order.first([]) == ([], 0)


@pytest.mark.django_db
def test_size_thinking_and_the_last_test_give_the_duration() -> None:
    server = ServerFactory(kind="ollama")
    rows = [
        ModelProfileFactory(server=server, size_bytes=size, abilities=able)
        for size, able in (
            (GB, ["completion"]),
            (20 * GB, ["completion"]),
            (GB, ["completion", "thinking"]),
            (None, []),
        )
    ]
    small, big, thinks, unknown = (first_test_order.expected(row, 0).seconds for row in rows)
    assert unknown < small < thinks < big
    assert first_test_order.expected(rows[1], 1500).seconds == 1.5


def test_of_equally_quick_tests_those_of_models_that_claim_tools_come_first() -> None:
    tests = [ExpectedTest(n, 1, 5, 4, claims=n in (3, 4)) for n in range(1, 5)]
    assert first_test_order.in_order([*tests, ExpectedTest(5, 1, 4, 4)]) == [5, 3, 4, 1, 2]


@pytest.mark.django_db
def test_a_first_visit_leaves_out_what_a_simulated_model_declares_as_large_or_thinking() -> None:
    server = ServerFactory(kind="simulator")
    rows = [
        ModelProfileFactory(server=server, name=name, size_bytes=model.size, abilities=list(model.capabilities or ()))
        for name, model in MODELS.items()
    ]
    tests = [first_test_order.expected(row, 0, "tools" in row.abilities) for row in rows]
    chosen, seconds = first_test_order.first(tests)
    names = {row.pk: row.name for row in rows}
    quick = {names[pk] for pk in chosen}
    assert quick == {name for name, model in MODELS.items() if model.size < GB and not model.thinks}
    assert {"sim-honest", "sim-ignores", "sim-hermes"} <= quick and len(quick) >= 25 and seconds <= SECONDS
    # A surprise among the first: what claims tools comes before what does not.
    assert chosen.index(next(pk for pk in chosen if names[pk] == "sim-ignores")) < 4

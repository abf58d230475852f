"""Loading and unloading of models."""

from __future__ import annotations

import math

import pytest

from toolsupport.simulator.loaded_models import ModelMemory


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def executor() -> Hands:
    return Hands()


@pytest.fixture
def memory(executor: Hands) -> ModelMemory:
    return ModelMemory(8.0, executor)


def test_a_slow_model_loads_once(memory: ModelMemory, executor: Hands) -> None:
    assert memory.load("m", 4096, slow=True) == 8.0
    executor.now += 3
    assert memory.load("m", 4096, slow=True) == 5.0
    assert memory.present() == {}
    executor.now += 5
    assert memory.load("m", 4096, slow=True) == 0
    assert memory.present() == {"m": (4096, math.inf)}


def test_an_ordinary_model_is_there_at_once(memory: ModelMemory) -> None:
    assert memory.load("m", 4096, slow=False) == 0
    assert "m" in memory.present()


def test_it_leaves_when_its_time_is_over(memory: ModelMemory, executor: Hands) -> None:
    memory.load("m", 4096, slow=True)
    executor.now += 8
    memory.keep("m", 10)
    executor.now += 9
    assert memory.present() == {"m": (4096, 1.0)}
    executor.now += 1
    assert memory.present() == {}
    assert memory.load("m", 4096, slow=True) == 8.0


def test_another_context_loads_it_anew(memory: ModelMemory, executor: Hands) -> None:
    memory.load("m", 4096, slow=True)
    executor.now += 8
    assert memory.load("m", 8192, slow=True) == 8.0


def test_unloading_and_keeping_what_is_not_there_do_nothing(memory: ModelMemory) -> None:
    memory.unload("m")
    memory.keep("m", 5)
    assert memory.present() == {}


def test_with_room_for_one_model_each_throws_out_the_other(memory: ModelMemory, executor: Hands) -> None:
    memory.holds = 1
    assert memory.load("a", 4096, slow=False) == 8.0
    executor.now += 8
    assert memory.load("a", 4096, slow=False) == 0
    assert memory.load("b", 4096, slow=False) == 8.0
    executor.now += 8
    assert list(memory.present()) == ["b"]
    assert (memory.load("a", 4096, slow=False), memory.loads) == (8.0, 3)


def test_the_model_used_longest_ago_goes_first(memory: ModelMemory, executor: Hands) -> None:
    memory.holds = 2
    for name in ("a", "b", "a", "c"):
        memory.load(name, 4096, slow=False)
    executor.now += 8
    assert set(memory.present()) == {"a", "c"}

"""One person's work never delays that of another by more than one piece."""

from __future__ import annotations

from toolsupport.work_pool.fair_queue import FairQueue


def test_owners_take_turns() -> None:
    queue: FairQueue[str] = FairQueue(waiting=10, running=10)
    for item in ("m1", "m2", "m3", "b1", "c1", "b2"):
        assert queue.put(item[0], item)
    assert [queue.take() for _ in range(7)] == ["m1", "b1", "c1", "m2", "b2", "m3", None]


def test_one_owner_has_so_many_waiting_and_so_many_running() -> None:
    queue: FairQueue[int] = FairQueue(waiting=3, running=1)
    assert [queue.put("mallory", number) for number in range(5)] == [True, True, True, False, False]
    assert queue.put("bob", 9)
    assert [queue.take(), queue.take(), queue.take()] == [0, 9, None]
    queue.done("mallory")
    assert [queue.take(), queue.take()] == [1, None]
    assert len(queue) == 1
    assert queue.clear() == [2]
    assert len(queue) == 0

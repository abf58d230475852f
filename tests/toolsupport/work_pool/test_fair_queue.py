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


def test_its_length_is_that_of_all_lines_after_any_order_of_steps() -> None:
    queue: FairQueue[int] = FairQueue(waiting=2, running=1)
    for owner, length in (("a", 1), ("a", 2), ("a", 2), ("b", 3)):
        queue.put(owner, 0)
        assert len(queue) == length
    for length in (2, 1, 1):  # one of each owner, then none: the other one of "a" waits for the first
        queue.take()
        assert len(queue) == length
    queue.done("a")
    queue.take()
    assert len(queue) == 0 and not queue

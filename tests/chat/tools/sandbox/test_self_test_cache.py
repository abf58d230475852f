"""A self-test that never ends blocks no caller."""

from __future__ import annotations

import threading

from chat.tools.sandbox.self_test_cache import AGAIN, STILL, cached_test


def test_a_slow_test_is_waited_for_once_and_asked_once() -> None:
    end, ended, asked = threading.Event(), threading.Event(), list[int]()

    def slow() -> str:
        asked.append(1)
        end.wait(10)
        ended.set()
        return "It does not hold."

    needs = cached_test(slow, 0.01)
    assert [needs(), needs()] == [STILL, STILL]
    end.set()
    assert ended.wait(10)
    while needs() == STILL:
        pass
    assert needs() == "It does not hold." and asked == [1]


def test_a_quick_one_is_known_at_once_and_a_broken_one_says_so() -> None:
    assert cached_test(lambda: "")() == ""
    assert cached_test(lambda: str(1 // 0))() == "Its self-test broke: ZeroDivisionError."


def test_a_failure_is_tested_again_after_a_minute_and_a_success_lasts() -> None:
    """A machine may be too busy at its start; until then the tool stays off with the reason."""
    now, results, tested = [0.0], ["Too slow.", "Too slow again.", ""], threading.Semaphore(0)

    def test() -> str:
        tested.release()
        return results.pop(0)

    needs = cached_test(test, 10, lambda: now[0])
    for wanted, following in (("Too slow.", "Too slow again."), ("Too slow again.", "")):
        assert needs() == wanted
        now[0] += AGAIN - 1
        assert needs() == wanted and needs() == wanted
        assert tested.acquire(timeout=10) and not tested.acquire(blocking=False)
        now[0] += 1
        while needs() != following:
            pass
    now[0] += 10 * AGAIN
    assert needs() == "" and tested.acquire(timeout=10) and not tested.acquire(blocking=False) and results == []

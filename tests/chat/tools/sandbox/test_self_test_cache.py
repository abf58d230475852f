"""A self-test that never ends blocks no caller."""

from __future__ import annotations

import threading

from chat.tools.sandbox.self_test_cache import STILL, cached_test


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

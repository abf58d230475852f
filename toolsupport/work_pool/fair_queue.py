"""Orders waiting work so that no person's work can hold up that of another."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """Gives each owner a turn after the other; at most `waiting` items of one wait, at most `running` run at once."""

    def __init__(self, waiting: int, running: int) -> None:
        self._most_waiting, self._most_running = waiting, running
        self._waiting: OrderedDict[Hashable, deque[Item]] = OrderedDict()
        self._running: Counter[Hashable] = Counter()
        self._length = 0  # of all lines: the event loop asks for it many times in a round

    def put(self, owner: Hashable, item: Item) -> bool:
        """Add an item, or return False if too many of this owner wait."""
        line = self._waiting.setdefault(owner, deque())
        if len(line) >= self._most_waiting:
            return False
        line.append(item)
        self._length += 1
        return True

    def take(self) -> Item | None:
        """Return the next item that may run now, or None; call `done` with its owner when it has ended."""
        for owner, line in self._waiting.items():
            if self._running[owner] < self._most_running:
                item = line.popleft()
                self._length -= 1
                self._running[owner] += 1
                del self._waiting[owner]
                if line:
                    self._waiting[owner] = line
                return item
        return None

    def __len__(self) -> int:
        return self._length

    def done(self, owner: Hashable) -> None:
        self._running[owner] -= 1
        if self._running[owner] <= 0:
            del self._running[owner]

    def clear(self) -> list[Item]:
        """Remove and return all waiting items."""
        items = [item for line in self._waiting.values() for item in line]
        self._waiting.clear()
        self._length = 0
        return items

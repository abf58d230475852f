"""Decides how long a queued turn is left to other processes, because this one lacks the key that decrypts its server's.

The keys of several processes change one process after another. Until the last one is restarted, each of them may meet
a turn that it cannot begin and another can: to end it would take an answer from a person for nothing. A turn that no
process can begin still ends, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LEFT = 60.0  # seconds: each process looks for queued turns every second, and a restart takes some of them


class LeftTurns:
    """The turns that this process could not begin, each with the time of its first attempt."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[int, float] = {}

    def leave(self, turn_id: int) -> bool:
        """Return whether a turn stays queued; False once the others had their time."""
        now = self._clock()
        self._since = {turn: since for turn, since in self._since.items() if now - since < 2 * LEFT}
        return now - self._since.setdefault(turn_id, now) < LEFT

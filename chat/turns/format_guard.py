"""Detects whether the calls of a turn can be parsed in its format."""

from __future__ import annotations

from toolsupport.core.events import CallFound, CallReady, CallRejected

# Every model makes a mistake sometimes; twice in a row is a fault of the format.
PATIENCE = 2


class FormatGuard:
    """The counts of one turn."""

    def __init__(self) -> None:
        self._failed = 0
        self._readable = self._unreadable = False

    def received(self, event: CallReady | CallRejected | CallFound) -> None:
        """Count a call of this reply. A wrong name or wrong arguments still count as parsed."""
        if isinstance(event, CallRejected) and event.fault == "unreadable":
            self._unreadable = True
        else:
            self._readable = True

    def replied(self) -> bool:
        """End the reply; return True if the format has failed too often and another should be tried."""
        failed = self._unreadable and not self._readable
        self._readable = self._unreadable = False
        self._failed = self._failed + 1 if failed else 0
        if self._failed < PATIENCE:
            return False
        self._failed = 0
        return True

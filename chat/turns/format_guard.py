"""Watches whether the calls of a turn can be read in the format it is in."""

from __future__ import annotations

from toolsupport.core.events import CallFound, CallReady, CallRejected

# A slip happens to every model; the second time in a row it is the format.
PATIENCE = 2


class FormatGuard:
    """One turn's guard."""

    def __init__(self) -> None:
        self._failed = 0
        self._readable = self._unreadable = False

    def heard(self, event: CallReady | CallRejected | CallFound) -> None:
        """A call of this reply. A wrong name or wrong arguments were read well enough to say so."""
        if isinstance(event, CallRejected) and event.fault == "unreadable":
            self._unreadable = True
        else:
            self._readable = True

    def replied(self) -> bool:
        """The reply is over: True where the format has failed too often, and another one shall be tried."""
        failed = self._unreadable and not self._readable
        self._readable = self._unreadable = False
        self._failed = self._failed + 1 if failed else 0
        if self._failed < PATIENCE:
            return False
        self._failed = 0
        return True

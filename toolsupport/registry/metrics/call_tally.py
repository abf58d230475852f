"""Counts the outcomes of an answer's calls until they are stored at its end."""

from __future__ import annotations

from collections import Counter, defaultdict

from toolsupport.core.events import CallFound, CallGarbled, CallReady, CallRejected, ToolsRefused
from toolsupport.registry.metrics.call_metrics import CallCount

# Fault of a rejected call → its outcome.
FAULTS = {"unreadable": "rejected", "unknown": "unknown", "schema": "schema", "cut": "rejected"}

# The worst outcome of a reply counts for its request; the later in this order, the worse.
ORDER = ("ready", "repaired", "prose", "schema", "unknown", "rejected")

CountedEvent = CallReady | CallRejected | CallFound | CallGarbled | ToolsRefused


def outcome_of(event: CountedEvent) -> str:
    """Return one of call_metrics.OUTCOMES."""
    if isinstance(event, CallRejected):
        return FAULTS[event.fault]
    if isinstance(event, ToolsRefused):
        return "refused"
    if isinstance(event, CallGarbled):
        return FAULTS["unreadable"]
    if isinstance(event, CallFound):
        return "prose"
    return "repaired" if event.call.repairs else "ready"


class CallTally:
    """The counts of one answer. Time and tokens of a reply are counted once, at its first call."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
        self._first: tuple[str, str] | None = None
        self._tokens = 0
        self._worst: tuple[str, str] | None = None
        self._requests: Counter[tuple[str, str]] = Counter()
        self._times: defaultdict[tuple[str, str], list[int]] = defaultdict(list)

    def received(self, event: CountedEvent, format_: str) -> None:
        key = (format_, outcome_of(event))
        self._first = self._first or key
        self._counts[key][0] += 1
        if key[1] in ORDER and (self._worst is None or ORDER.index(key[1]) > ORDER.index(self._worst[1])):
            self._worst = key

    def inside(self, event: CountedEvent, format_: str) -> None:
        """Count a call that a program made, without a request to a model."""
        self._counts[(format_, outcome_of(event))][0] += 1

    def used(self, tokens: int) -> None:
        self._tokens += tokens

    def replied(self, milliseconds: int) -> None:
        """Count a finished reply with its duration."""
        if self._first is not None:
            counts = self._counts[self._first]
            counts[1] += milliseconds
            counts[2] += self._tokens
            self._times[self._first].append(milliseconds)
        if self._worst is not None:
            self._requests[self._worst] += 1
        self._first, self._worst, self._tokens = None, None, 0

    def taken(self) -> tuple[CallCount, ...]:
        """Return the counts since the last call of this function."""
        counts = tuple(
            CallCount(*key, calls, latency, tokens, tuple(self._times[key]), self._requests[key])
            for key, (calls, latency, tokens) in self._counts.items()
        )
        self._counts.clear()
        self._times.clear()
        self._requests.clear()
        return counts

"""Groups consecutive calls of one tool in one answer, so that ten files read are one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, Protocol, TypeVar

from chat.statuses import UNFINISHED, CallStatus
from chat.transcript.messages import call_phrases

# Two calls take as much room as their group would, and show more.
FEWEST = 3


class GroupedCall(Protocol):
    """The parts of a call that the row of its group needs."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def answer(self) -> str: ...

    @property
    def duration_ms(self) -> int | None: ...


AnyCall = TypeVar("AnyCall", bound=GroupedCall)


@dataclass(frozen=True, slots=True)
class CallGroup(Generic[AnyCall]):
    """Consecutive calls of one tool."""

    calls: Sequence[AnyCall]

    @property
    def id(self) -> str:
        return self.calls[0].id

    @property
    def members(self) -> str:
        """The ids of its calls, for the page."""
        return " ".join(call.id for call in self.calls)

    @property
    def icon(self) -> str:
        return call_phrases.VERBS.get(self.calls[0].name, call_phrases.OTHER).icon

    @property
    def text(self) -> str:
        """Its row: "Read 8 of 10 files · 2 failed"."""
        return words(self.calls[0].name, [(call.status, call.answer) for call in self.calls])

    @property
    def worked(self) -> int:
        return sum(call.status == CallStatus.DONE for call in self.calls)

    @property
    def runs(self) -> bool:
        return any(call.status == CallStatus.RUNNING for call in self.calls)

    @property
    def opens(self) -> bool:
        """Whether a call failed, or waits for a person."""
        return any(call.status not in (CallStatus.DONE, CallStatus.PENDING, CallStatus.RUNNING) for call in self.calls)

    @property
    def duration_ms(self) -> int | None:
        """The time of all its calls, once they have ended."""
        if any(call.status in UNFINISHED for call in self.calls):
            return None
        return sum(call.duration_ms or 0 for call in self.calls) or None  # None: nothing ran


def grouped(calls: Iterable[AnyCall]) -> Iterator[AnyCall | CallGroup[AnyCall]]:
    """Return the rows of an answer: single calls and groups, in order."""
    for name, found in groupby(calls, lambda call: call.name):
        run = tuple(found)
        if name and len(run) >= FEWEST:
            yield CallGroup(run)
        else:
            yield from run


def words(name: str, states: Sequence[tuple[str, str]]) -> str:
    """Return the row of a group whose calls of tool `name` have these (status, answer to the approval)."""
    verb = call_phrases.VERBS.get(name, call_phrases.OTHER)
    statuses, total = [status for status, _ in states], len(states)
    done = statuses.count(CallStatus.DONE)
    open_ = sum(status in UNFINISHED for status in statuses)
    notes = Counter(call_phrases.state_word(*state).lower() for state in states if state[0] not in QUIET)
    if not 0 < open_ < total:
        count = f"{done} of {total}" if 0 < done < total else str(total)
        lead = call_phrases.in_state(verb, CallStatus.DONE if done else statuses[0] if open_ else _worst(statuses))
    else:
        lead, count = verb.now, str(total)
        notes = Counter({"done": done} if done else {}) + notes
    if CallStatus.RUNNING in statuses:
        lead = verb.now
    thing = f"{count} {verb.many}" if verb.many else f"{count} times"
    if not done and notes in ({"failed": total}, {"not run": total}):
        notes.clear()  # "Could not read 3 files" and "Did not read 3 files" include it
    target = "" if name in call_phrases.VERBS else f"{call_phrases.target_of(name, '')} "
    return " · ".join([f"{lead} {target}{thing}", *(_note(*one) for one in notes.items())])


# States without a note: the call worked, or has not ended.
QUIET = (CallStatus.DONE, CallStatus.PENDING, CallStatus.RUNNING)


def _note(note: str, number: int) -> str:
    return f"{number} {note if number == 1 else note.replace('needs ', 'need ')}"


def _worst(statuses: Sequence[str]) -> str:
    """Return the state of calls of which none worked: all failed, or some did not run."""
    return CallStatus.FAILED if all(one in call_phrases.COULD_NOT for one in statuses) else CallStatus.DENIED

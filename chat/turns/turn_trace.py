"""Records one turn as spans: the turn, its rounds and its calls, each within the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chat.statuses import CallStatus, TurnStatus
from chat.transcript.turns.begin import ClaimedTurn
from chat.turns.events import ApprovalNeeded, RoundStarted, ToolFinished, ToolStarted, TurnEvent
from chat.turns.tool_executor import ToolExecutor
from toolsupport.config import traces
from toolsupport.config.traces import NOTHING, TraceSpan

FAILED = (TurnStatus.FAILED, CallStatus.FAILED, CallStatus.TIMEOUT, CallStatus.REJECTED)
# A name that only a model wrote is content, which traces never have.
UNKNOWN = "unknown"


class TurnTrace:
    """The spans of a turn. One that waited for a person is two: they have the same number in `toolsupport.turn`."""

    def __init__(self, claimed: ClaimedTurn, executor: ToolExecutor) -> None:
        self._claimed, self._executor = claimed, executor
        self._turn = self._round = NOTHING
        self._calls: list[TraceSpan] = []
        self._outcome: str = TurnStatus.WAITING

    def begin(self) -> None:
        """Begin the turn. Later spans of its task are part of it."""
        claimed = self._claimed
        facts: dict[str, Any] = {
            "operation": "invoke_agent",
            "model": claimed.prepared.request_spec.model,
            "turn": claimed.turn,
        }
        self._turn = traces.begin("invoke_agent", conversation=claimed.conversation, **facts)
        traces.enter(self._turn)

    def take(self, event: TurnEvent) -> None:
        """Record an event of the turn."""
        if self._turn is not NOTHING and (handler := HANDLERS.get(type(event))) is not None:
            handler(self, event)

    def ended(self, reason: str) -> None:
        self._outcome = reason

    def end(self) -> None:
        """End all open spans, for any end of the turn."""
        self._leave_calls()
        self._round.end()
        _close(self._turn, self._outcome)

    def _round_started(self, event: RoundStarted) -> None:
        """Begin a round. It lasts until the next one, with the calls of its reply."""
        self._round.end()
        self._round = traces.begin("round", self._turn, round=event.number)
        traces.enter(self._round)

    def _tool_started(self, event: ToolStarted) -> None:
        served = self._executor.runs_as(event.call).name
        tool = served if served in self._executor.tools else UNKNOWN
        within = next((span for span in (*self._calls[-1:], self._round) if span.records), self._turn)
        self._calls.append(traces.begin(f"execute_tool {tool}", within, operation="execute_tool", tool=tool))

    def _tool_finished(self, event: ToolFinished) -> None:
        if self._calls:
            _close(self._calls.pop(), event.status)

    def _approval_needed(self, _: ApprovalNeeded) -> None:
        self._leave_calls()

    def _leave_calls(self) -> None:
        while self._calls:
            _close(self._calls.pop(), CallStatus.WAITING if self._outcome == TurnStatus.WAITING else CallStatus.STOPPED)


def _close(span: TraceSpan, outcome: str) -> None:
    span.add(outcome=str(outcome))
    if outcome in FAILED:
        span.fail(str(outcome))
    span.end()


HANDLERS: dict[type, Callable[[TurnTrace, Any], None]] = {
    RoundStarted: TurnTrace._round_started,
    ToolStarted: TurnTrace._tool_started,
    ToolFinished: TurnTrace._tool_finished,
    ApprovalNeeded: TurnTrace._approval_needed,
}

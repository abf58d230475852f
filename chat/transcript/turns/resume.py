"""Restores a turn that waited for a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from chat.models import ToolRun, Turn
from chat.statuses import CallStatus
from chat.tools import BUILTINS
from chat.tools.sandbox.self_test_cache import STILL
from chat.tools.tool import Pause
from chat.transcript.messages.history import WAITS, call_of
from chat.transcript.questions import questions
from chat.transcript.settings import turn_settings
from chat.transcript.settings.turn_settings import ChatRequestContext
from toolsupport.core.events import CallReady
from toolsupport.core.format_fallback import in_format
from toolsupport.core.types import ToolCall


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """Where a waiting turn continues: its unanswered calls, the decision, its usage so far.

    Calls are as the model made them; `served` are those that run for them, by id. `in_prose` are the ids of calls found
    in the text of the answer. With `pause` the first call is a program that waits for a call of its own. `calls_only`:
    the turn ends with its calls, without a request to a model.
    """

    message: int
    pending: tuple[ToolCall, ...]
    decisions: Mapping[str, questions.ApprovalDecision]
    rounds: int
    done: tuple[ToolCall, ...]
    usage: Mapping[str, Any]
    in_prose: frozenset[str] = frozenset()
    pause: Pause | None = None
    served: Mapping[str, ToolCall] = field(default_factory=dict)
    calls_only: bool = False


def resumed(turn: Turn, runs: list[ToolRun], rounds: int) -> ResumePoint:
    """Build it from the rows of a turn's calls, in order, and the number of requests to its model."""
    waiting = [run for run in runs if run.status in WAITS]
    decided = {run.call_id: questions.decision(run, turn) for run in runs if run.status == CallStatus.WAITING}
    pending = [run for run in waiting if run.program_id is None]
    inner = next((run for run in waiting if run.program_id is not None), None)
    return ResumePoint(
        message=runs[-1].message_id,
        pending=tuple(call_of(run) for run in pending),
        decisions={call_id: decision for call_id, decision in decided.items() if decision is not None},
        rounds=rounds,
        done=tuple(call_of(run) for run in runs if run.status not in WAITS),
        usage=turn.usage,
        in_prose=frozenset(run.call_id for run in pending if run.in_prose),
        pause=_pause(inner) if inner is not None else None,
        served={run.call_id: ToolCall(run.call_id, run.name, run.arguments) for run in waiting},
        calls_only=bool(turn.program),
    )


def _pause(inner: ToolRun) -> Pause:
    assert inner.program is not None and inner.program.snapshot is not None
    return Pause(CallReady(call_of(inner)), bytes(inner.program.snapshot))


def is_too_early(turn_id: int) -> bool:
    """Return whether a turn has calls of a tool whose self-test still runs in this process.

    Until its end the tool counts as missing, so that a call which a person allowed would not run.
    """
    names = ToolRun.objects.filter(turn_id=turn_id, status__in=WAITS).values_list("name", flat=True)
    return any(name in BUILTINS and BUILTINS[name].missing == STILL for name in names)


def gone_on(turn: Turn, prepared: ChatRequestContext) -> ChatRequestContext:
    """Continue a turn in the format to which it fell back earlier."""
    request_spec = prepared.request_spec
    if not turn.format or turn.format not in (*request_spec.fallbacks, request_spec.if_refused):
        turn.conversation.settings = turn.conversation.settings | {"format": turn.format}
        return turn_settings.prepared(turn.conversation)
    return replace(
        prepared, request_spec=in_format(request_spec, turn.format, "The formats before it failed in this answer.")
    )

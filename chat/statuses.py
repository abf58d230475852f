"""The states of an answer and of a tool call in rows and frames."""

from __future__ import annotations

from enum import StrEnum


class TurnStatus(StrEnum):
    """An answer is queued, runs, may wait for a person, and ends in one of the others."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    MODEL_CHANGED = "model_changed"


class CallStatus(StrEnum):
    """A call is pending, may wait for a person, runs, and ends in one of the others."""

    PENDING = "pending"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    TIMEOUT = "timeout"
    STOPPED = "stopped"
    REJECTED = "rejected"
    DENIED = "denied"


ACTIVE = (TurnStatus.QUEUED, TurnStatus.RUNNING)
OPEN = (*ACTIVE, TurnStatus.WAITING)
UNFINISHED = (CallStatus.PENDING, CallStatus.WAITING, CallStatus.RUNNING)

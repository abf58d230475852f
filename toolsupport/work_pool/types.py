"""Defines a piece of costly work and the errors of the pool."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """A function that runs in a worker: `function` is "package.module:name", `cpu` its processor time in seconds.

    Its module may not import Django. It gets and returns JSON values only. `wall` is the time in seconds after which
    the worker is killed in any case: more than `cpu`, as the processors may be busy.
    """

    function: str
    cpu: float
    wall: float = 10.0


class WorkError(Exception):
    """The work gave no result; the caller shows a plain form instead."""


class OverBudget(WorkError):
    """The work needed more processor time or memory than it may have."""


class WorkTimedOut(WorkError):
    """The machine was too busy to do the work in time; what it costs is unknown."""


class WorkRefused(WorkError):
    """The work was not started: this person has too much of it waiting, or the process is stopping."""


class WorkFailed(WorkError):
    """The function raised an error, or its worker could not be used."""

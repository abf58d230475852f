"""What all requests to one simulator share."""

from __future__ import annotations

from dataclasses import dataclass

from toolsupport.simulator.memory import Memory


@dataclass(slots=True)
class Desk:
    """`pace` is the seconds between two tokens of a model of ordinary speed."""

    memory: Memory
    pace: float

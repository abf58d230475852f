"""Client frames about tests of models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DetectionStart:
    model: str
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class DetectionSkip:
    """Skips a step of a test; without `step` the running one."""

    detection: int
    step: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class DetectionCancel:
    detection: int
    client_id: str | None = None

"""Decides when another model answers in place of one that cannot, with the reasons against a fallback model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolsupport.core.events import (
    CallDelta,
    CallFound,
    CallGarbled,
    CallReady,
    CallRejected,
    Event,
    Failed,
    TextDelta,
    TextReclassified,
    ThinkingDelta,
)

MOST = 4  # fallback models of one model
# Events that a person or a program sees: after one, no other model takes over.
SHOWN = (TextDelta, ThinkingDelta, TextReclassified, CallDelta, CallReady, CallRejected, CallFound, CallGarbled)
# Failures after which no model of the same server is asked.
OF_SERVER = frozenset({"unreachable", "timeout", "unauthorized", "busy"})
# Failures that were retried already, or would happen again.
AT_ONCE = frozenset({"unreachable", "timeout", "unauthorized", "model_missing", "busy"})
# Failures that may pass: the same model is asked once more.
ASKED_TWICE = frozenset({"server", "cut"})

# Why a fallback model is not used.
SKIPPED: Mapping[str, str] = MappingProxyType(
    {
        "tried": "already tried",
        "same_server": "same server, which does not answer",
        "unreachable": "server offline",
        "missing": "removed or turned off",
        "no_chat": "does not chat",
        "no_exam": "no exam passed on this build",
        "failed_exam": "failed its exam",
        "other_format": "exam passed in another call format",
        "waits": "waits for its exam",
        "unusable": "cannot be used",
    }
)


@dataclass(frozen=True, slots=True)
class FallbackStep:
    """One fallback model in the order of the chain. `why` is a key of SKIPPED, "" if it can be used."""

    profile: int
    name: str
    server: int
    why: str = ""

    @property
    def why_words(self) -> str:
        return SKIPPED.get(self.why, "")


def shown(events: Iterable[Event]) -> bool:
    """Return whether anything of a reply was shown."""
    return any(isinstance(event, SHOWN) for event in events)


def may_follow(failed: Failed) -> bool:
    """Return whether another model may answer after this failure; a refused request would be refused again."""
    return failed.kind in AT_ONCE | ASKED_TWICE


def next_of(steps: Iterable[FallbackStep]) -> FallbackStep | None:
    """Return the first usable model of a chain."""
    return next((step for step in steps if not step.why), None)


def passed_over(steps: Collection[FallbackStep]) -> str:
    """Return the models before the first usable one, each with the reason: "a (server offline), b (…)"."""
    skipped = []
    for step in steps:
        if not step.why:
            break
        if step.why != "tried":
            skipped.append(f"{step.name} ({step.why_words})")
    return ", ".join(skipped)

"""Reads the evidence behind one capability of a model: the sources in order of precedence, and the trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.core.evidence_state import ModelEvidence, short_day
from toolsupport.core.overrides import OverrideStatus
from toolsupport.core.resolve import explain
from toolsupport.core.types import Capability
from toolsupport.models import Detection, ModelProfile, Override, Trial
from toolsupport.registry.knowledge import effective_values, model_evidence
from toolsupport.registry.models import profiles
from toolsupport.registry.models.profiles import CapabilityCell

MOST = 27  # trials on a page
# The sources in order of precedence, each with the ranks that it stands for.
CHAIN = (
    ("Person", ("user_confirmed",), "No override"),
    ("Test", ("auto_detected", "auto_detected_stale"), "Not tested"),
    ("Learned", ("runtime_error",), "Nothing seen"),
    ("Server", ("declared",), "No claim"),
    ("Profile", ("profile",), "No entry"),
    ("Built-in default", (), "Unknown"),
)
# Capability → the steps of a test that measure it.
STEPS = {
    "tools": ("accepted", "called"),
    "format": ("formats",),
    "parallel": ("parallel",),
    "multi_turn": ("second_turn",),
    "leaves_alone": ("control",),
}


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A source: `state` is wins, overridden or empty."""

    title: str
    state: str
    words: str
    fact: str = ""


@dataclass(frozen=True, slots=True)
class CapabilityEvidence:
    """One capability of a model with its evidence; `test` is the id of the test of the trials, 0 without one."""

    profile: ModelProfile
    evidence: ModelEvidence
    cell: CapabilityCell
    chain: tuple[ChainLink, ...]
    trials: tuple[Trial, ...]
    test: int

    @property
    def counted(self) -> str:
        """How many trials passed: `3 of 3`; "" without any that counts."""
        tried = [trial for trial in self.trials if trial.passed is not None]
        return f"{sum(bool(trial.passed) for trial in tried)} of {len(tried)}" if tried else ""


def of(profile_id: int, capability: str) -> CapabilityEvidence:
    """Return the evidence of a capability. Raises NotFound."""
    profile = profiles.row(profile_id)
    known = effective_values.known(profile)
    winner = known[capability]
    test = _test(profile, winner)
    return CapabilityEvidence(
        profile=profile,
        evidence=model_evidence.of_one(profile, known),
        cell=profiles.cell(winner),
        chain=chain(profile, capability),
        trials=tuple(_trials(test, capability)) if test else (),
        test=test,
    )


def chain(profile: ModelProfile, capability: str) -> tuple[ChainLink, ...]:
    """Return every source of a capability in order of precedence: the first with a value wins."""
    claims = effective_values.claims([profile.pk])[profile.pk]
    return links(explain(effective_values.family_of(profile), claims, profile.build.key).get(capability, ()))


def links(entries: Sequence[OverrideStatus]) -> tuple[ChainLink, ...]:
    """Return the sources of one capability from its claims."""
    found = [_link(title, ranks, empty, entries) for title, ranks, empty in CHAIN]
    if not any(link.state == "wins" for link in found):
        found[-1] = ChainLink("Built-in default", "wins", "Unknown")
    return tuple(found)


def trials(test: int) -> list[Trial]:
    """Return the newest trials of a test about calls, oldest first; one query."""
    rows = Trial.objects.filter(detection=test, step__in=("called", "formats")).order_by("-seq")
    return list(rows[:MOST])[::-1] if test else []


def _link(title: str, ranks: Sequence[str], empty: str, entries: Sequence[OverrideStatus]) -> ChainLink:
    mine = [entry for entry in entries if entry.source in ranks and entry.standing in ("winner", "beaten")]
    if not mine:
        return ChainLink(title, "empty", empty)
    entry = mine[0]
    words = profiles.state_and_words(entry.capability, entry.value)[1].capitalize()
    day = short_day(entry.claim.created_at) if entry.claim else ""
    who = entry.claim.actor if entry.claim and entry.source == "user_confirmed" else ""
    old = "older build" if entry.stale else ""
    return ChainLink(
        title,
        "wins" if entry.standing == "winner" else "overridden",
        words,
        " · ".join(part for part in (who, day, old) if part),
    )


def _test(profile: ModelProfile, winner: Capability) -> int:
    """Return the test behind the value, else the newest of the present build that may have tried it."""
    row = Override.objects.filter(pk=winner.override or 0).exclude(detection=None).values_list("detection", flat=True)
    if winner.override and (found := row.first()):
        return int(found)
    over = Detection.objects.filter(profile=profile, build_key=profile.build.key, status="done")
    return over.order_by("-pk").values_list("pk", flat=True).first() or 0


def _trials(test: int, capability: str) -> Sequence[Trial]:
    steps = ("per_tool",) if capability.startswith("tool:") else STEPS.get(capability, ())
    rows = Trial.objects.filter(detection=test, step__in=steps).order_by("seq")
    if capability.startswith("tool:"):
        rows = rows.filter(response__subject=capability.removeprefix("tool:"))
    return list(rows[:MOST])

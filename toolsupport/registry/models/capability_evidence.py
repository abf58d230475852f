"""Reads the evidence behind one capability of a model: the sources in order of precedence, and the trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.text import capfirst

from toolsupport.core.evidence_state import ModelEvidence, short_day
from toolsupport.core.override_ranking import IN_FORCE, OverrideStatus
from toolsupport.core.resolve import explain
from toolsupport.core.types import Capability
from toolsupport.models import Detection, ModelProfile, Override, Trial
from toolsupport.registry.knowledge import effective_values, model_evidence
from toolsupport.registry.knowledge.undecided_capabilities import TrialCount
from toolsupport.registry.models import profiles
from toolsupport.registry.models.profiles import CapabilityCell

MOST = 27  # trials on a page
NOT_TESTED = "Not tested on this build"
# The sources in order of precedence, each with the ranks that it stands for.
CHAIN = (
    ("Person", "user_confirmed", "No override"),
    ("Test", "auto_detected", NOT_TESTED),
    ("Learned", "runtime_error", "Nothing seen in chats"),
    ("Server", "declared", "No claim"),
    ("Test of an older build", "auto_detected_stale", ""),
    ("Profile", "profile", "No entry"),
    ("Built-in default", "", "Not measured"),
)
# Verdict on native tools → its words in the chain.
VERDICTS = {"inconclusive": "Inconclusive", "flaky": "Yes, but unreliable", "misconfigured": "Server setting missing"}
REFUSALS = ("accepted", "tools")  # step and subject of the deciding trials if a server refuses tools
# Capability → the steps of a test that measure it.
STEPS = {
    "tools": ("called",),
    "format": ("formats",),
    "parallel": ("parallel",),
    "multi_turn": ("second_turn",),
    "leaves_alone": ("control",),
    "constrains": ("constrains",),
    "constrains_patterns": ("constrains",),
}


@dataclass(frozen=True, slots=True)
class TriedStep:
    """A trial in short; `subject` is its tool or text format. `passed` None: inconclusive."""

    test: int
    step: str
    passed: bool | None
    subject: str


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A source: `state` is in_force, overridden, noted (it decides nothing here) or empty; `reason` is a person's."""

    title: str
    state: str
    words: str
    fact: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CapabilityEvidence:
    """One capability of a model with its evidence.

    `test` is the id of the test of the trials, 0 without one; `counted` is how many passed: `3 of 3`.
    """

    profile: ModelProfile
    evidence: ModelEvidence
    cell: CapabilityCell
    chain: tuple[ChainLink, ...]
    trials: tuple[Trial, ...]
    test: int
    counted: str


def of(profile_id: int, capability: str) -> CapabilityEvidence:
    """Return the evidence of a capability. Raises NotFound."""
    profile = profiles.row(profile_id)
    known = effective_values.known(profile)
    held = known[capability]
    test = _test(profile, held)
    trials = tuple(_trials(test, held)) if test else ()
    count = _count(trials)
    evidence, cell = model_evidence.of_one(profile, known), profiles.cell(held, count)
    cell = profiles.native_cell(cell, evidence) if capability == "tools" else cell
    undecided = cell.words if cell.state == "tried" else ""
    return CapabilityEvidence(
        profile=profile,
        evidence=evidence,
        cell=cell,
        chain=with_test(chain(profile, capability), undecided or of_verdict(capability, evidence)),
        trials=trials,
        test=test,
        counted=_share(count, capability, test, evidence),
    )


def _share(count: TrialCount | None, capability: str, test: int, evidence: ModelEvidence) -> str:
    """Return how many trials passed; for native tools those that the state rests on, as in its sentence."""
    if capability == "tools" and evidence.share and evidence.test == test and evidence.state != "text":
        return evidence.share
    return count.share if count else ""


def of_verdict(capability: str, evidence: ModelEvidence) -> str:
    """Return the words for a test of native tools without a clear yes or no, "" for any other."""
    return VERDICTS.get(evidence.verdict, "") if capability == "tools" else ""


def with_test(sources: Sequence[ChainLink], words: str) -> tuple[ChainLink, ...]:
    """Return the sources with the words for a test without a clear yes or no, if there are any."""
    return tuple(replace(link, words=capfirst(words)) if words and _plain(link) else link for link in sources)


def _plain(link: ChainLink) -> bool:
    return link.words == NOT_TESTED or (link.title, link.state, link.words) == ("Test", IN_FORCE, "Yes")


def chain(profile: ModelProfile, capability: str) -> tuple[ChainLink, ...]:
    """Return every source of a capability in order of precedence: the first with a value is in force."""
    claims = effective_values.claims([profile.pk])[profile.pk]
    return links(explain(effective_values.family_of(profile), claims, profile.build.key).get(capability, ()))


def links(entries: Sequence[OverrideStatus]) -> tuple[ChainLink, ...]:
    """Return the sources of one capability from its claims."""
    made = [_link(title, source, empty, entries) for title, source, empty in CHAIN]
    learned = _learned(entries)
    made = [learned if learned and link.title == learned.title else link for link in made]
    found = [link for link in made if link.words]
    if not any(link.state == IN_FORCE for link in found):
        found[-1] = replace(found[-1], state=IN_FORCE)
    return tuple(found)


def tried(tests: Iterable[int]) -> list[TriedStep]:
    """Return the trials of these tests, oldest first, without what was sent and received; one query."""
    # 0 means no test.
    rows = Trial.objects.filter(detection__in=set(tests) - {0}).order_by("detection", "seq")
    found = rows.values_list("detection", "step", "passed", "response__subject")
    return [TriedStep(test, step, passed, subject or "") for test, step, passed, subject in found]


def about_calls(evidence: ModelEvidence, text_format: Any, trials: Iterable[TriedStep]) -> list[TriedStep]:
    """Return the newest trials that the state of a model rests on: native calls, or those in its text format."""
    mine = [one for one in trials if one.test == evidence.test]
    if evidence.state == "text":
        return about("format", text_format, mine)
    return [one for one in mine if one.step in ("called", "formats")][-MOST:]


def about(capability: str, value: Any, trials: Iterable[TriedStep]) -> list[TriedStep]:
    """Return the newest trials of one test about a capability; of a text format that works, only those in it."""
    tool, steps = capability.removeprefix("tool:"), STEPS.get(capability, ())
    mine = list(trials)
    if tool != capability:
        found = [one for one in mine if (one.step, one.subject) == ("per_tool", tool)]
    else:
        found = [one for one in mine if one.step in steps and _in_format(capability, value, one.subject)]
    if capability == "tools" and not found:
        found = [one for one in mine if (one.step, one.subject) == REFUSALS]
    return found[-MOST:]


def _link(title: str, source: str, empty: str, entries: Sequence[OverrideStatus]) -> ChainLink:
    mine = [entry for entry in entries if entry.source == source and entry.counts]
    if not mine:
        return ChainLink(title, "empty", empty)
    entry, claim = mine[0], mine[0].claim
    words = profiles.state_and_words(entry.capability, entry.value)[1]
    if claim is None:
        return ChainLink(title, entry.state, capfirst(words))
    person = source == "user_confirmed"
    until = f"until {short_day(claim.expires_at)}" if claim.expires_at else ""
    old = "for an older build" if person and entry.stale else ""
    facts = (claim.actor if person else "", short_day(claim.created_at), until, old)
    fact = " · ".join(filter(None, facts))
    return ChainLink(title, entry.state, capfirst(words), fact, claim.reason if person else "")


def _learned(entries: Sequence[OverrideStatus]) -> ChainLink | None:
    """Return the findings of chats: a refusal counts in its own chat only, until a person saves it for everyone."""
    seen = [entry for entry in entries if entry.claim and entry.claim.source == "runtime_error"]
    if not seen:
        return None
    chats = len({entry.claim.session for entry in seen if entry.claim})
    newest = max(entry.claim.created_at for entry in seen if entry.claim)
    fact = f"Refused in {chats} chat{'' if chats == 1 else 's'} · {short_day(newest)} · counts there only"
    return ChainLink("Learned", "noted", capfirst(profiles.state_and_words(seen[0].capability, seen[0].value)[1]), fact)


def _test(profile: ModelProfile, held: Capability) -> int:
    """Return the test behind the value, else the newest of the present build that may have tried it."""
    row = Override.objects.filter(pk=held.override or 0).exclude(detection=None).values_list("detection", flat=True)
    if held.override and (found := row.first()):
        return int(found)
    over = Detection.objects.filter(profile=profile, build_key=profile.build.key, status="done")
    return over.order_by("-pk").values_list("pk", flat=True).first() or 0


def _in_format(capability: str, value: Any, subject: str) -> bool:
    return capability != "format" or not value or subject == value


def _trials(test: int, held: Capability) -> Sequence[Trial]:
    capability = held.name
    steps = ("per_tool",) if capability.startswith("tool:") else STEPS.get(capability, ())
    made = Trial.objects.filter(detection=test).order_by("seq")
    rows = made.filter(step__in=steps)
    if capability.startswith("tool:"):
        rows = rows.filter(response__subject=capability.removeprefix("tool:"))
    if capability == "format" and held.value:
        rows = rows.filter(response__subject=held.value)
    found = list(rows[:MOST])
    if capability == "tools" and not found:
        return list(made.filter(step=REFUSALS[0], response__subject=REFUSALS[1])[:MOST])
    return found


def _count(trials: Sequence[Trial]) -> TrialCount | None:
    counted = [bool(trial.passed) for trial in trials if trial.passed is not None]
    return TrialCount(sum(counted), len(counted)) if counted else None

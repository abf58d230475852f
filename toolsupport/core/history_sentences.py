"""Bundles the entries of a history that belong together, and writes the sentences about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TypeVar

# Verdict → its state of evidence, a key of the five states, and its word.
EVIDENCE = {
    "native": ("proven", "Proven"),
    "text": ("text", "Text mode"),
    "flaky": ("broken", "Broken"),
    "ignored": ("broken", "Broken"),
    "misconfigured": ("broken", "Broken"),
    "refused": ("off", "Off"),
    "inconclusive": ("claimed", "Inconclusive"),
}
NO_EVIDENCE = ("off", "")

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class EventKey:
    """The facts by which entries belong together. `act` is the entry that leads a recorded bundle, 0 without one."""

    kind: str
    source: str
    actor: str
    at: datetime
    act: int = 0


@dataclass(frozen=True, slots=True)
class BundleFacts:
    """The facts of a sentence about several entries; `verdicts` are those of tests."""

    kind: str
    source: str
    actor: str
    server: str
    model: str
    changes: int
    models: int
    verdicts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """The facts of a sentence about one entry. `restored`: a withdrawal that was reverted; `test`: it is about one."""

    kind: str
    source: str
    actor: str
    title: str
    value: str
    verdict: str = ""
    restored: bool = False
    test: bool = False


def bundled(items: Sequence[Item], key_of: Callable[[Item], EventKey]) -> list[list[Item]]:
    """Group the entries of one act, and those of one kind, source and person in the same minute; order is kept.

    An entry of a recorded act never joins entries of another one.
    """
    groups: dict[object, list[Item]] = {}
    for item in items:
        key = key_of(item)
        minute = key.at.replace(second=0, microsecond=0)
        groups.setdefault(key.act or (key.kind, key.source, key.actor, minute), []).append(item)
    return [*groups.values()]


def evidence(kind: str, verdict: str) -> tuple[str, str]:
    """Return the state of evidence and its word; a verdict of a review is none."""
    return EVIDENCE.get(verdict, NO_EVIDENCE) if kind == "detection" else NO_EVIDENCE


def common_evidence(kind: str, verdicts: Iterable[str]) -> str:
    """Return the state of evidence that all these tests proved, "off" for other kinds, "" where they differ."""
    states = {evidence(kind, verdict)[0] for verdict in verdicts}
    return states.pop() if len(states) == 1 else ""


def who(kind: str, source: str, actor: str) -> str:
    """Write who caused an entry: "Ana tested", "Ben proposes", "The server claims"."""
    if kind == "override" and source in MACHINES:
        return MACHINES[source]
    by_person, by_program = DEEDS[kind]
    return by_person.format(actor) if actor else by_program


def about_entry(facts: EntryFacts) -> str:
    """Write the sentence about an entry: "Ana set Vision to Yes", "Ana tested: Proven", "The server claims"."""
    name = who(facts.kind, facts.source, facts.actor)
    if facts.kind == "detection":
        word = evidence(facts.kind, facts.verdict)[1]
        return f"{name}: {word}" if word else name
    if facts.kind == "override" and facts.source in MACHINES:
        return name
    kind = "restoral" if facts.restored else "undo" if facts.kind == "withdrawal" and facts.test else facts.kind
    by_person, by_program = ENTRIES.get((kind, facts.verdict)) or ENTRIES[kind, ""]
    return (by_person if facts.actor else by_program).format(facts.actor, title=facts.title, value=facts.value)


def about_bundle(facts: BundleFacts) -> str:
    """Write the sentence about several entries: "Test of 12 models: 6 proven, 5 text mode, 1 broken"."""
    models = counted(facts.models, "model") if facts.models > 1 else facts.model
    if facts.kind == "detection":
        words = Counter[str]()
        for verdict, times in facts.verdicts.items():
            words[evidence("detection", verdict)[1].lower() or "without a verdict"] += times
        return f"Test of {models}: {', '.join(f'{times} {word}' for word, times in words.most_common())}"
    if facts.kind == "override" and facts.source == "declared":
        return f"{facts.server} claims {counted(facts.changes, 'value')} of {models}"
    by_person, by_program = BUNDLES[facts.kind]
    sentence = by_person if facts.actor else by_program
    return sentence.format(actor=facts.actor, count=facts.changes, models=models)


def counted(count: int, noun: str) -> str:
    """Return "1 model", "2 models"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


MACHINES = {"declared": "The server claims", "auto_detected": "Measured by a test"}
# By kind: with a person, and without one.
DEEDS = {
    "override": ("Set by {}", "Set by a program"),
    "withdrawal": ("Removed by {}", "Removed by a program"),
    "proposal": ("{} proposes", "Proposed"),
    "detection": ("{} tested", "Tested automatically"),
    "refusal": ("In a chat of {}", "Refused in a chat"),
    "review": ("{} reviewed", "Reviewed"),
    "drift": ("Found by {}", "New build"),
    "setting": ("Set by {}", "Set by a program"),
}
# By kind and verdict: with a person, and without one.
ENTRIES = {
    ("override", ""): ("{0} set {title} to {value}", "{title} set to {value}"),
    ("withdrawal", ""): ("{0} removed the override of {title}", "The override of {title} ended"),
    ("undo", ""): ("{0} undid a test", "A test was undone"),
    ("restoral", ""): ("{0} restored a value of {title}", "A value of {title} was restored"),
    ("proposal", ""): ("{0} proposes {value} for {title}", "{value} proposed for {title}"),
    ("refusal", ""): ("The server refused tools in a chat of {0}", "The server refused tools in a chat"),
    ("review", ""): ("{0} reviewed a change", "A change was reviewed"),
    ("review", "agree"): ("{0} agreed with a change", "Agreed with a change"),
    ("review", "disagree"): ("{0} disagreed with a change", "Disagreed with a change"),
    ("drift", ""): ("{0} found a new build", "A new build runs"),
    ("setting", ""): ("{0} changed a setting: {title}", "A setting changed: {title}"),
}
BUNDLES = {
    "override": ("{actor} set {count} values of {models}", "A program set {count} values of {models}"),
    "withdrawal": ("{actor} removed {count} values of {models}", "{count} values of {models} removed"),
    "proposal": ("{actor} proposes {count} values of {models}", "{count} values of {models} proposed"),
    "refusal": ("{count} refusals by {models}", "{count} refusals by {models}"),
    "review": ("{actor} reviewed {count} entries of {models}", "{count} reviews of {models}"),
    "drift": ("New build of {models}", "New build of {models}"),
    "setting": ("{actor} changed {count} settings of {models}", "{count} settings of {models} changed"),
}

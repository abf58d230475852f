"""What the pages read of the models: the matrix of all, everything about one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Q

from toolsupport.core.errors import NotFound
from toolsupport.core.resolve import CAPABILITIES
from toolsupport.core.sources import SOURCES
from toolsupport.core.words import Capabilities, Capability
from toolsupport.models import ModelProfile, Override
from toolsupport.registry import model_options, overrides, picker, standings
from toolsupport.registry.choices import ShownModel
from toolsupport.registry.model_options import Options
from toolsupport.registry.overrides import Decision

HISTORY = 200

# The columns of the matrix, in order: capability, heading.
COLUMNS = (
    ("tools", "Tools"),
    ("format", "Text format"),
    ("parallel", "Parallel"),
    ("multi_turn", "Multi-turn"),
    ("leaves_alone", "Leaves alone"),
    ("thinking", "Thinking"),
    ("vision", "Vision"),
    ("context", "Context"),
)
TITLES = dict(COLUMNS) | {
    "streaming": "Streams its calls",
    "tools_thinking": "Calls with thinking",
    "max_tools": "Most tools at once",
    "prompt_style": "Prompt style",
    "call_format": "Preferred format",
}
THINKING = {"both": "on and off", "off_only": "only while off", "on_only": "only while on"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One capability in the fewest words. `state` is yes, no, unknown or value (neither yes nor no)."""

    capability: str
    title: str
    state: str
    words: str
    letter: str
    source: str
    since: str
    reason: str
    stale: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the matrix."""

    id: int
    name: str
    server: str
    size: str
    simulated: bool
    gone: bool
    enabled: bool
    state: str
    state_word: str
    family: str
    source: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A line of a model's history. `undone` is True where a later row withdrew it, `withdraws` is that row's target."""

    id: int
    seq: int
    title: str
    words: str
    source: str
    actor: str
    reason: str
    at: datetime
    undone: bool
    withdraws: str
    this_build: bool
    proposed: bool


@dataclass(frozen=True, slots=True)
class Editor:
    """The tools decision as it can be changed: `decided` is True, False or None (the evidence rules)."""

    profile: int
    decided: bool | None
    newest: int
    cell: Cell
    state: str
    state_word: str


@dataclass(frozen=True, slots=True)
class Page:
    """Everything the page of one model shows."""

    model: ShownModel
    profile: ModelProfile
    build: str
    options: Options
    cells: tuple[Cell, ...]
    editor: Editor
    history: tuple[Claimed, ...]


def listed(wanted: str = "") -> tuple[Row, ...]:
    """The matrix, filtered by a piece of the model's or the server's name; gone models last. Two queries."""
    rows = ModelProfile.objects.select_related("server").order_by("name", "server__name")
    for word in wanted.split():
        rows = rows.filter(Q(name__icontains=word) | Q(server__name__icontains=word))
    profiles = list(rows)
    known = picker.folded(profile.pk for profile in profiles)
    made = (_row(profile, known[profile.pk]) for profile in profiles)
    return tuple(sorted(made, key=lambda row: (row.gone or not row.enabled, row.simulated)))


def shown(profile_id: int) -> Page:
    """One model with the value, source and reason of each capability. Raises NotFound."""
    profile = _get(profile_id)
    model = picker.shown(profile_id)
    assert model is not None
    known = picker.folded([profile_id])[profile_id]
    return Page(
        model=model,
        profile=profile,
        build=profile.build.key,
        options=replace(model_options.of(profile), num_ctx=profile.default_context),
        cells=tuple(cell(_context(profile, known) if name == "context" else known[name]) for name in CAPABILITIES),
        editor=_editor(profile, known),
        history=_history(profile),
    )


def capabilities(profile_id: int, conversation: str = "") -> Capabilities:
    """What holds for a model, for everyone or in one conversation. Raises NotFound."""
    profile = _get(profile_id)
    return standings.fold(profile, standings.claims([profile_id])[profile_id], conversation)


def cell(capability: Capability) -> Cell:
    """A capability as a cell of the matrix shows it."""
    state, words = say(capability.name, capability.value)
    source = SOURCES[capability.source]
    return Cell(
        capability=capability.name,
        title=title(capability.name),
        state=state,
        words=words,
        letter=source.letter,
        source=source.word,
        since=capability.since,
        reason=capability.reason,
        stale=capability.stale or capability.source == "auto_detected_stale",
    )


def title(capability: str) -> str:
    """What people call a capability: a heading of the matrix, or the tool it speaks of."""
    return TITLES.get(capability, capability.removeprefix("tool:"))


def say(name: str, value: Any) -> tuple[str, str]:
    """(state, words) of a value: ("yes", "yes"), ("unknown", "unknown"), ("value", "128k") …"""
    if value is None:
        return "unknown", "unknown"
    if isinstance(value, bool):
        return ("yes", "yes") if value else ("no", "no")
    if name == "tools_thinking":
        return "value", THINKING.get(str(value), str(value))
    if name == "context" and isinstance(value, int) and value >= 1024:
        return "value", f"{value // 1024}k"
    return "value", str(value)


def _get(profile_id: int) -> ModelProfile:
    profile = ModelProfile.objects.select_related("server").filter(pk=profile_id).first()
    if profile is None:
        raise NotFound("There is no such model.")
    return profile


def _editor(profile: ModelProfile, known: Capabilities) -> Editor:
    state, word = picker.chip(known)
    in_force = overrides.in_force(profile, Decision(profile.pk, "tools"))
    decided = (claim.value for claim in in_force if claim.source == "user_confirmed")
    return Editor(
        profile=profile.pk,
        decided=next(decided, None),
        newest=overrides.newest_seq(profile.pk, "tools"),
        cell=cell(known["tools"]),
        state=state,
        state_word=word,
    )


def _row(profile: ModelProfile, known: Capabilities) -> Row:
    state, words = picker.chip(known)
    return Row(
        id=profile.pk,
        name=profile.name,
        server=profile.server.name,
        size=picker.size_text(profile),
        simulated=profile.server.simulated,
        gone=profile.gone_since is not None,
        enabled=profile.enabled and profile.server.enabled,
        state=state,
        state_word=words,
        family=profile.family,
        source=SOURCES[known["tools"].source].word,
        cells=tuple(cell(_context(profile, known) if name == "context" else known[name]) for name, _ in COLUMNS),
    )


def _context(profile: ModelProfile, known: Capabilities) -> Capability:
    # What the server says of this very model is nearer than what the family table says of its kind, but no person.
    if profile.context_length is None or known["context"].source == "user_confirmed":
        return known["context"]
    return Capability("context", profile.context_length, "declared", "The server gives this context length.")


def _history(profile: ModelProfile) -> tuple[Claimed, ...]:
    rows = profile.overrides.select_related("actor", "withdraws").order_by("-seq")[:HISTORY]
    undone = set(profile.overrides.exclude(withdraws=None).values_list("withdraws_id", flat=True))
    build = profile.build.key
    return tuple(_claimed(row, row.pk in undone, row.build_key == build) for row in rows)


def _claimed(row: Override, undone: bool, this_build: bool) -> Claimed:
    return Claimed(
        id=row.pk,
        seq=row.seq,
        title=title(row.capability),
        words=say(row.capability, row.value)[1],
        source=SOURCES[row.source].word if row.source in SOURCES else row.source.replace("_", " "),
        actor=standings.display_name(row.actor),
        reason=row.reason,
        at=row.created_at,
        undone=undone,
        withdraws=say(row.capability, row.withdraws.value)[1] if row.withdraws else "",
        this_build=this_build,
        proposed=row.proposed,
    )

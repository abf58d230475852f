"""Reads the data of the model pages: the matrix of all, everything about one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from toolsupport.core import format_choice
from toolsupport.core.errors import NotFound
from toolsupport.core.evidence_state import ModelEvidence
from toolsupport.core.override_sources import SOURCES
from toolsupport.core.overrides import BOUND_TO_BUILD
from toolsupport.core.resolve import CAPABILITIES
from toolsupport.core.types import Capabilities, Capability
from toolsupport.models import ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, model_evidence, overrides
from toolsupport.registry.models import picker
from toolsupport.registry.models.picker_rows import ShownModel
from toolsupport.registry.settings import model_settings
from toolsupport.registry.settings.model_settings import ModelOptions

HISTORY = 500  # rows; those of one test that only confirm share a line

# The columns of the matrix, in order: capability, heading.
COLUMNS = (
    ("tools", "Native"),
    ("format", "Text"),
    ("parallel", "Parallel"),
    ("multi_turn", "Multi-turn"),
    ("leaves_alone", "Restraint"),
    ("thinking", "Thinking"),
    ("vision", "Vision"),
    ("tool:read_file", "read"),
    ("tool:write_file", "write"),
    ("tool:list_directory", "list"),
    ("tool:edit_file", "edit"),
    ("tool:bash", "bash"),
    ("context", "Context"),
)
FILES = tuple(name for name, _ in COLUMNS if name.startswith("tool:"))
TITLES = dict(COLUMNS) | {
    "tool:read_file": "Reads files",
    "tool:write_file": "Writes files",
    "tool:list_directory": "Lists folders",
    "tool:edit_file": "Edits files",
    "tool:bash": "Uses bash",
    "tools": "Native tool calls",
    "format": "Text format",
    "parallel": "Parallel calls",
    "streaming": "Streams calls",
    "tools_thinking": "Calls with thinking",
    "max_tools": "Most tools at once",
    "prompt_style": "Prompt style",
    "call_format": "Preferred format",
}
# Glyph → its sign, its colour. A person's value is drawn in ink: it is no proof.
SIGNS = {
    "yes": ("✓", "proven"),
    "text": ("✓", "text"),
    "partly": ("~", "claimed"),
    "claimed": ("?", "claimed"),
    "failed": ("✕", "broken"),
    "no": ("–", "off"),
    "set": ("✓", "off"),
    "unknown": ("·", ""),
}
THINKING = {"both": "on and off", "off_only": "only while off", "on_only": "only while on"}
TOOL = {"native": "natively", "via_bash": "through bash", "refused": "refused"}


@dataclass(frozen=True, slots=True)
class CapabilityCell:
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
    glyph: str = "unknown"

    @property
    def sign(self) -> str:
        return SIGNS[self.glyph][0]

    @property
    def look(self) -> str:
        """The colour of the sign, a key of evidence; "" for one that stays quiet."""
        return SIGNS[self.glyph][1]

    @property
    def spoken(self) -> str:
        """The cell in words: `Parallel calls: no, tested`."""
        return f"{self.title}: " + ("not measured" if self.state == "unknown" else f"{self.words}, {self.source}")


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A line of the matrix."""

    id: int
    name: str
    server: str
    size: str
    simulated: bool
    gone: bool
    enabled: bool
    evidence: ModelEvidence
    family: str
    source: str
    cells: tuple[CapabilityCell, ...]
    chats: bool
    context: int = 0

    @property
    def older(self) -> bool:
        """Whether it was tested on another build than the running one."""
        return self.evidence.older

    @property
    def testable(self) -> bool:
        return self.enabled and self.chats and not self.gone

    @property
    def untested(self) -> bool:
        """Whether a test of the running build is missing, and possible."""
        return self.testable and self.evidence.state in ("claimed", "none") and not self.evidence.test


@dataclass(frozen=True, slots=True)
class OverrideLine:
    """A line of a model's history. `undone`: a later row withdrew it; `withdraws` is that row's target."""

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
class DecisionEditor:
    """The editor of the tools decision: `decided` is True, False or None (the evidence counts)."""

    profile: int
    decided: bool | None
    newest: int
    cell: CapabilityCell


@dataclass(frozen=True, slots=True)
class ModelPage:
    """The data of the page of one model."""

    model: ShownModel
    profile: ModelProfile
    build: str
    options: ModelOptions
    cells: tuple[CapabilityCell, ...]
    editor: DecisionEditor
    history: tuple[OverrideLine, ...]


def listed(only: Collection[int] | None = None) -> tuple[ModelRow, ...]:
    """Return the matrix, or `only` these models, removed models last. Four queries for any number of models."""
    there = ModelProfile.objects.filter(server__removed_at=None)
    there = there if only is None else there.filter(pk__in=only)
    profiles = list(there.select_related("server").order_by("name", "server__name"))
    known = effective_values.known_of_each(profiles)
    evidence = model_evidence.of_each(profiles, known)
    made = (_row(profile, known[profile.pk], evidence[profile.pk]) for profile in profiles)
    return tuple(sorted(made, key=lambda row: (row.gone or not row.enabled, row.simulated)))


def shown(profile_id: int) -> ModelPage:
    """Return one model with the value, source and reason of each capability. Raises NotFound."""
    profile = row(profile_id)
    known = effective_values.known(profile)
    rows = list(profile.overrides.select_related("actor", "withdraws", "detection").order_by("-seq")[:HISTORY])
    return ModelPage(
        model=picker.row_of(profile, known, model_evidence.of_one(profile, known)),
        profile=profile,
        build=profile.build.key,
        options=replace(model_settings.of(profile), num_ctx=profile.default_context),
        cells=tuple(cell(_context(profile, known) if name == "context" else known[name]) for name in CAPABILITIES),
        editor=_editor(profile, known, rows),
        history=_history(profile, rows),
    )


def capabilities(profile_id: int, conversation: str = "") -> Capabilities:
    """Return the effective values of a model, for everyone or in one conversation. Raises NotFound."""
    return effective_values.known(row(profile_id), conversation)


def cell(capability: Capability) -> CapabilityCell:
    """Return a capability as a cell of the matrix."""
    state, words = state_and_words(capability.name, capability.value)
    source = SOURCES[capability.source]
    return CapabilityCell(
        capability=capability.name,
        title=title(capability.name),
        state=state,
        words=words,
        letter=source.letter,
        source=source.word,
        since=capability.since,
        reason=capability.reason,
        stale=capability.stale or capability.source == "auto_detected_stale",
        glyph=glyph(capability),
    )


def glyph(capability: Capability) -> str:
    """Return the sign of a value: only what was measured looks proven, and a claim never does."""
    value, measured = capability.value, capability.source in ("auto_detected", "auto_detected_stale")
    if value is None:
        return "unknown"
    if value is False or value == "refused":
        return "failed" if measured else "no"
    if not measured:
        return "set" if capability.source in ("user_confirmed", "session") else "claimed"
    return "partly" if value == "via_bash" else "text" if capability.name == "format" else "yes"


def title(capability: str) -> str:
    """Return the name of a capability for people; a tool without a title of its own has its name in backquotes."""
    return TITLES.get(capability, f"Tool `{capability.removeprefix('tool:')}`")


def state_and_words(name: str, value: Any) -> tuple[str, str]:
    """Return (state, words) of a value: ("yes", "yes"), ("unknown", "unknown"), ("value", "128k") …"""
    if value is None:
        return "unknown", "unknown"
    if isinstance(value, bool):
        return ("yes", "yes") if value else ("no", "no")
    if name == "tools_thinking":
        return "value", THINKING.get(str(value), str(value))
    if name.startswith("tool:"):
        return "value", TOOL.get(str(value), str(value))
    if name in ("format", "call_format", "prompt_style"):
        return "value", format_choice.label(str(value)).replace("_", " ")
    if name == "context" and isinstance(value, int) and value >= 1024:
        return "value", f"{value // 1024}K"
    return "value", str(value)


def row(profile_id: int) -> ModelProfile:
    """Return the row of a model with its server. Raises NotFound."""
    profile = ModelProfile.objects.select_related("server").filter(pk=profile_id).first()
    if profile is None:
        raise NotFound("There is no such model.")
    return profile


def _editor(profile: ModelProfile, known: Capabilities, rows: Sequence[Override]) -> DecisionEditor:
    tools = known["tools"]
    newest = next((row.seq for row in rows if row.capability == "tools" and not row.session), None)
    return DecisionEditor(
        profile=profile.pk,
        decided=tools.value if tools.source == "user_confirmed" else None,
        # Older rows are read only where all that were read are about other capabilities.
        newest=overrides.newest_seq(profile.pk, "tools") if newest is None and len(rows) == HISTORY else newest or 0,
        cell=cell(tools),
    )


def _row(profile: ModelProfile, known: Capabilities, evidence: ModelEvidence) -> ModelRow:
    return ModelRow(
        id=profile.pk,
        name=profile.name,
        server=profile.server.name,
        size=picker.size_text(profile),
        simulated=profile.server.simulated,
        gone=profile.gone_since is not None,
        enabled=profile.enabled and profile.server.enabled,
        evidence=evidence,
        family=profile.family,
        source=SOURCES[known["tools"].source].word,
        cells=tuple(cell(_context(profile, known) if name == "context" else known[name]) for name, _ in COLUMNS),
        chats=profile.chats,
        context=profile.context_length or 0,
    )


def _context(profile: ModelProfile, known: Capabilities) -> Capability:
    # The server's fact about this model has precedence over the family's, but not over a person's.
    if profile.context_length is None or known["context"].source == "user_confirmed":
        return known["context"]
    return Capability("context", profile.context_length, "declared", "The server gives this context length.")


def _history(profile: ModelProfile, rows: Sequence[Override]) -> tuple[OverrideLine, ...]:
    undone = set(profile.overrides.exclude(withdraws=None).values_list("withdraws_id", flat=True))
    build = profile.build.key
    lines: defaultdict[tuple[str, int], list[Override]] = defaultdict(list)
    for row in rows:
        lines[_line_of(row)].append(row)
    return tuple(_joined(kind, together, undone, build) for (kind, _), together in lines.items())


def _line_of(row: Override) -> tuple[str, int]:
    """Return the group of a row: all confirmations of one test share a line, and all withdrawals by one undo."""
    if row.withdraws and row.withdraws.detection_id and row.reason == overrides.UNDONE:
        return "undone", row.withdraws.detection_id
    if row.detection and row.capability in row.detection.detail.get("confirmed", ()):
        return "confirmed", row.detection.pk
    return "", row.pk


def _joined(kind: str, together: list[Override], undone: set[int], build: str) -> OverrideLine:
    """Return the line of one row, or of several rows of one test."""
    line = _claimed(together[0], together[0].pk in undone, build)
    if not kind:
        return line
    rows = [row.withdraws or row for row in reversed(together)]
    words = ", ".join(f"{title(row.capability)}: {state_and_words(row.capability, row.value)[1]}" for row in rows)
    return replace(line, title="Test", words=f"confirmed {words}", withdraws=words if kind == "undone" else "")


def _claimed(row: Override, undone: bool, build: str) -> OverrideLine:
    # A server declares what it runs now, and a withdrawal measures nothing: only these hold for one build.
    older = row.source in BOUND_TO_BUILD and row.withdraws is None and row.build_key != build
    return OverrideLine(
        id=row.pk,
        seq=row.seq,
        title=title(row.capability),
        words=state_and_words(row.capability, row.value)[1],
        source=SOURCES[row.source].word if row.source in SOURCES else row.source.replace("_", " "),
        actor=effective_values.display_name(row.actor),
        reason=row.reason,
        at=row.created_at,
        undone=undone,
        withdraws=state_and_words(row.capability, row.withdraws.value)[1] if row.withdraws else "",
        this_build=not older,
        proposed=row.proposed,
    )

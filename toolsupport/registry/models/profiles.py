"""Reads the data of the model pages: the matrix of all, everything about one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolsupport.core import format_choice
from toolsupport.core.errors import NotFound
from toolsupport.core.evidence_state import STATES, UNPROVEN, ModelEvidence
from toolsupport.core.name_order import by_name
from toolsupport.core.override_ranking import OverrideRow
from toolsupport.core.override_sources import SOURCES
from toolsupport.core.resolve import CAPABILITIES
from toolsupport.core.types import Capabilities, Capability
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import effective_values, model_evidence, undecided_capabilities
from toolsupport.registry.knowledge.model_evidence import EvidenceTests
from toolsupport.registry.knowledge.undecided_capabilities import Counts, TrialCount
from toolsupport.registry.models import picker
from toolsupport.registry.models.picker_rows import ShownModel
from toolsupport.registry.servers import servers
from toolsupport.registry.settings import model_settings
from toolsupport.registry.settings.model_settings import ModelOptions

# The columns of the matrix, in order: capability, heading.
COLUMNS = (
    ("tools", "Native"),
    ("format", "Text"),
    ("parallel", "Parallel"),
    ("multi_turn", "Multi-turn"),
    ("leaves_alone", "Restraint"),
    ("thinking", "Thinking"),
    ("vision", "Vision"),
    ("constrains", "Schema"),
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
    "constrains": "Constrained output",
    "constrains_patterns": "Constrained patterns",
    "fallback_models": "Fallback models",
    "only_validated_fallbacks": "Only validated fallbacks",
    "required_exam": "Required exam",
    "exam_waived": "Use without its exam",
}
# Settings of a model in the history, each with the word for its default.
SETTINGS = {
    "fallback_models": "none",
    "only_validated_fallbacks": "team default",
    "required_exam": "none",
    "exam_waived": "no",
}
# Glyph → its sign, its colour. A person's value is drawn in ink: it is no proof.
SIGNS = {
    "yes": ("✓", "proven"),
    "text": ("✓", "text"),
    "partly": ("~", "claimed"),
    "undecided": ("?", "claimed"),
    "claimed": ("?", "claimed"),
    "failed": ("✕", "broken"),
    "no": ("–", "off"),
    "set": ("✓", "off"),
    "unknown": ("·", ""),
}
THINKING = {"both": "on and off", "off_only": "only while off", "on_only": "only while on"}
CONSTRAINS = {"enforced": "enforced", "accepted": "accepted but not enforced", "refused": "refused"}
WORDS_OF = {"tools_thinking": THINKING, "constrains": CONSTRAINS}
# Glyph of an enforced schema → the evidence that the model's output follows a schema.
FOLLOWS = {"yes": "Proven", "claimed": "Claimed", "set": STATES["set"]}
TOOL = {"native": "natively", "via_bash": "through bash", "refused": "refused"}


@dataclass(frozen=True, slots=True)
class CapabilityCell:
    """One capability in the fewest words.

    `state` is yes, no, unknown, value (neither yes nor no), or tried: a test made trials and decided nothing.
    """

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
        """The cell in words: `Parallel calls: no, test`, `Vision: yes, claimed by the server`."""
        if self.state == "unknown":
            return f"{self.title}: not measured"
        claimed = "claimed by the " if self.source in ("server", "profile") else ""
        return f"{self.title}: {self.words}, {claimed}{self.source}"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A line of the matrix; `down`: the state of a server that did not answer."""

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
    down: str = ""

    @property
    def older(self) -> bool:
        """Whether it was tested on another build than the running one."""
        return self.evidence.older

    @property
    def follows_schema(self) -> str:
        """Whether the output of the model follows a schema, in the words of a filter."""
        found = next(cell for cell in self.cells if cell.capability == "constrains")
        if found.state == "unknown":
            return "Not measured"
        return FOLLOWS[found.glyph] if found.words == CONSTRAINS["enforced"] else "No"

    @property
    def usable(self) -> bool:
        return self.enabled and self.chats and not self.gone

    @property
    def testable(self) -> bool:
        return self.usable and not self.down

    @property
    def untested(self) -> bool:
        """Whether a test of the running build is missing, and possible."""
        return self.testable and self.evidence.state in UNPROVEN and not self.evidence.test


@dataclass(frozen=True, slots=True)
class UsableModel:
    """A model that can be asked in chats; `down` is why its server does not answer, "" if it does."""

    id: int
    name: str
    server: str
    down: str


@dataclass(frozen=True, slots=True)
class ModelPage:
    """The data of the page of one model."""

    model: ShownModel
    profile: ModelProfile
    build: str
    options: ModelOptions
    cells: tuple[CapabilityCell, ...]
    claims: Sequence[OverrideRow]
    tests: EvidenceTests
    known: Capabilities


def listed(only: Collection[int] | None = None) -> tuple[ModelRow, ...]:
    """Return the matrix, or `only` these models, removed models last. Five queries for any number of models."""
    there = ModelProfile.objects.filter(server__removed_at=None)
    there = there if only is None else there.filter(pk__in=only)
    profiles = sorted(there.select_related("server"), key=lambda row: by_name(row.name, row.server.name))
    known = effective_values.known_of_each(profiles)
    tests = model_evidence.tests_of(profiles, known) if profiles else EvidenceTests({}, {}, [])
    tried = undecided_capabilities.of_each(profiles, known, tests)
    made = (_row(profile, known[profile.pk], tests, tried.get(profile.pk, {})) for profile in profiles)
    return tuple(sorted(made, key=lambda row: (row.gone or not row.enabled, row.simulated)))


def usable(only: Collection[int] | None = None) -> list[UsableModel]:
    """Return the models that can be asked in chats, or these of them, simulated ones last. One query."""
    there = ModelProfile.objects.filter(server__removed_at=None, gone_since=None, enabled=True, server__enabled=True)
    there = there if only is None else there.filter(pk__in=only)
    rows = [row for row in there.select_related("server") if row.chats]
    rows.sort(key=lambda row: (row.server.simulated, by_name(row.name, row.server.name)))
    return [UsableModel(row.pk, row.name, row.server.name, servers.down_word(row.server)) for row in rows]


def shown(profile_id: int) -> ModelPage:
    """Return one model with the value, source and reason of each capability. Raises NotFound."""
    profile = row(profile_id)
    claims = effective_values.claims([profile.pk])[profile.pk]
    known = effective_values.fold(profile, claims)
    tests = model_evidence.tests_of([profile], {profile.pk: known}, last=profile.pk)
    tried = undecided_capabilities.of_each([profile], {profile.pk: known}, tests)
    evidence = model_evidence.of_tests(profile, known, tests)
    return ModelPage(
        model=picker.row_of(profile, known, evidence),
        profile=profile,
        build=profile.build.key,
        options=replace(model_settings.of(profile), num_ctx=profile.default_context),
        cells=_cells(CAPABILITIES, _with_context(profile, known), tried.get(profile.pk, {}), evidence),
        claims=claims,
        tests=tests,
        known=known,
    )


def capabilities(profile_id: int, conversation: str = "") -> Capabilities:
    """Return the effective values of a model, for everyone or in one conversation. Raises NotFound."""
    return effective_values.known(row(profile_id), conversation)


def cell(capability: Capability, tried: TrialCount | None = None) -> CapabilityCell:
    """Return a capability as a cell of the matrix; `tried` are the trials that could not decide it."""
    if tried and not capability.known:
        return _undecided(capability, tried)
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


def native_cell(found: CapabilityCell, evidence: ModelEvidence) -> CapabilityCell:
    """Return the cell of native tools so that it never contradicts the state of the model's tools."""
    source = SOURCES["auto_detected"]
    if evidence.verdict == "flaky" and found.glyph == "yes":
        words = f"{evidence.share} trials passed" if evidence.share else "unreliable"
        return replace(found, words=words, glyph="partly")
    if evidence.verdict == "misconfigured" and found.state == "unknown":
        tested = replace(found, state="tried", glyph="failed", letter=source.letter, source=source.word)
        return replace(tested, words=evidence.result.lower(), reason=evidence.sentence, since=evidence.at)
    return found


def _undecided(capability: Capability, tried: TrialCount) -> CapabilityCell:
    words = f"{tried.share} trials passed"
    glyph, reason = "undecided", f"{words}, which is not enough to decide."
    if tried.passed:
        glyph = "partly"
    elif capability.name == "format":
        glyph, reason = "failed", "None of the text formats that were tried worked."
    source = SOURCES["auto_detected"]
    found = (capability.name, title(capability.name), "tried", words, source.letter, source.word)
    return CapabilityCell(*found, since=tried.at, reason=reason, stale=False, glyph=glyph)


def glyph(capability: Capability) -> str:
    """Return the sign of a value: only a measured one looks proven, never a claim."""
    value, measured = capability.value, capability.source in ("auto_detected", "auto_detected_stale")
    if value is None:
        return "unknown"
    if value is False or value == "refused":
        return "failed" if measured else "no"
    if not measured:
        return "set" if capability.source in ("user_confirmed", "session") else "claimed"
    return "partly" if value in ("via_bash", "accepted") else "text" if capability.name == "format" else "yes"


def title(capability: str) -> str:
    """Return the name of a capability for people; a tool without a title of its own has its name in backquotes."""
    return TITLES.get(capability, f"Tool `{capability.removeprefix('tool:')}`")


def state_and_words(name: str, value: Any) -> tuple[str, str]:
    """Return (state, words) of a value: ("yes", "yes"), ("unknown", "not measured"), ("value", "128k") …"""
    if name in SETTINGS and not isinstance(value, bool):
        return "value", _setting(value) or SETTINGS[name]
    if value is None:
        return "unknown", "not measured"
    if isinstance(value, bool):
        return ("yes", "yes") if value else ("no", "no")
    table = TOOL if name.startswith("tool:") else WORDS_OF.get(name)
    if table is not None:
        return "value", table.get(str(value), str(value))
    if name in ("format", "call_format", "prompt_style"):
        return "value", format_choice.label(str(value)).replace("_", " ")
    if name == "context" and isinstance(value, int) and value >= 1024:
        return "value", f"{value // 1024}K"
    return "value", str(value)


def _setting(value: str | list[str] | None) -> str:
    return value if isinstance(value, str) else ", ".join(f"{at}. {one}" for at, one in enumerate(value or (), 1))


def row(profile_id: int) -> ModelProfile:
    """Return the row of a model with its server. Raises NotFound."""
    profile = ModelProfile.objects.select_related("server").filter(pk=profile_id).first()
    if profile is None:
        raise NotFound("This model does not exist.")
    return profile


def _row(profile: ModelProfile, known: Capabilities, tests: EvidenceTests, tried: Counts) -> ModelRow:
    evidence = model_evidence.of_tests(profile, known, tests)
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
        cells=_cells([name for name, _ in COLUMNS], _with_context(profile, known), tried, evidence),
        chats=profile.chats,
        context=profile.context_length or 0,
        down=servers.down_word(profile.server),
    )


def _cells(
    names: Iterable[str], known: Capabilities, tried: Counts, evidence: ModelEvidence
) -> tuple[CapabilityCell, ...]:
    made = (cell(known[name], tried.get(name)) for name in names)
    return tuple(native_cell(one, evidence) if one.capability == "tools" else one for one in made)


def _with_context(profile: ModelProfile, known: Capabilities) -> Capabilities:
    """Return the values with the server's fact about the context, which precedes the family's, but not a person's."""
    if profile.context_length is None or known["context"].source == "user_confirmed":
        return known
    fact = Capability("context", profile.context_length, "declared", "The server reports this context length.")
    return replace(known, values={**known.values, "context": fact})

"""Compares what the server of each model claims with what tests proved, for the page of the first visit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q

from toolsupport.core.format_choice import label
from toolsupport.core.types import Capabilities
from toolsupport.models import Detection, ModelProfile, Override, Trial
from toolsupport.registry.knowledge import effective_values
from toolsupport.registry.models import picker
from toolsupport.registry.testing import detection_reports, first_tests
from toolsupport.registry.testing.first_tests import ExpectedTest

CLAIMS = {True: "Claims tools", False: "Claims no tools", None: "Claims nothing"}
# The state of a tile by the verdict of the newest test, and its words; {} stands for the trials that passed.
PROOFS = {
    "native": ("proven", "Calls tools {}"),
    "text": ("text", "{format} {}"),
    "flaky": ("broken", "Unreliable {}"),
    "ignored": ("broken", "Ignores tools {}"),
    "refused": ("off", "Refuses tools"),
    "misconfigured": ("broken", "Server setting missing"),
    "inconclusive": ("claimed", "Inconclusive"),
}
UNTESTED = ("claimed", "Not tested")
# Verdicts that contradict a claim, the clearest contradiction first.
SURPRISES = {True: ("ignored", "refused", "text", "flaky"), False: ("native", "text"), None: ("native", "text")}
# The sentence "… claims tools" goes on with these words.
CONTRADICTIONS = {
    "ignored": " and never calls one",
    "refused": ", but its server refuses them",
    "text": ", but works in text mode",
    "flaky": ", but calls them unreliably",
    "native": ", but calls the right tool",
}
LONGEST = 160  # characters of a reply on the page


# (passed, tried) of a test's trials in a text format.
FormatCounts = Mapping[tuple[int, str], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ModelTile:
    """A model: `claims` None if its server claims nothing, `evidence` a key of the five states or "testing".

    `verdict` is that of its newest test, "" without one; `detection` is its id. `open`: a test of it runs or waits.
    """

    id: int
    name: str
    server: str
    claims: bool | None
    evidence: str
    words: str
    verdict: str = ""
    detection: int = 0
    open: bool = False

    @property
    def claim(self) -> str:
        return CLAIMS[self.claims]


@dataclass(frozen=True, slots=True)
class Surprise:
    """A model whose test contradicts its server's claim: the claim and a trial, with the raw texts of both."""

    tile: ModelTile
    claimed: str
    reason: str
    reply: str

    @property
    def words(self) -> str:
        """The claim and its contradiction, after the model's name."""
        return f"{CLAIMS[self.tile.claims].lower()}{CONTRADICTIONS[self.tile.verdict]}"


@dataclass(frozen=True, slots=True)
class EvidenceOverview:
    """All models that can chat. `native` and `text` are (models that work, tested models that made the claim)."""

    tiles: tuple[ModelTile, ...]
    native: tuple[int, int]
    text: tuple[int, int]
    seconds_left: int
    surprise: Surprise | None
    expected: tuple[ExpectedTest, ...] = ()

    @property
    def servers(self) -> list[str]:
        return sorted({tile.server for tile in self.tiles})

    @property
    def tested(self) -> int:
        return sum(bool(tile.verdict) and not tile.open for tile in self.tiles)

    @property
    def untested(self) -> list[int]:
        """The ids of the models without a verdict and without a test, the quickest test first."""
        return first_tests.in_order(self.expected)

    @property
    def first(self) -> list[int]:
        """The models that are tested on a first visit; all others are offered afterwards."""
        return self.untested if self.tested else first_tests.first(self.expected)[0]

    @property
    def first_seconds(self) -> int:
        return -(-first_tests.first(self.expected)[1] // 5) * 5

    @property
    def claiming(self) -> int:
        return sum(tile.claims is True for tile in self.tiles)

    @property
    def testing(self) -> int:
        """Models whose tests run or wait."""
        return sum(tile.open for tile in self.tiles)

    @property
    def wanted(self) -> int:
        """Models with a result, or with a test that runs or waits."""
        return self.tested + self.testing

    @property
    def total(self) -> int:
        return len(self.tiles)

    @property
    def best(self) -> ModelTile | None:
        """A model that was proven to call tools."""
        return next((tile for tile in self.tiles if tile.evidence == "proven"), None)

    @property
    def without(self) -> ModelTile | None:
        """A model without native tool calls that was proven in text mode."""
        return next((tile for tile in self.tiles if tile.evidence == "text"), None)


def read(person: int | None) -> EvidenceOverview:
    """Return the overview for a person, whose own running tests give the time that is left."""
    rows = [row for row in picker.offered() if row.chats and row.gone_since is None]
    ids = [row.pk for row in rows]
    known, claims, newest = effective_values.known_of_each(rows), _claims(ids), _newest(ids)
    tests = {profile: test for profile, test in newest.items() if test.build_key == test.profile.build.key}
    open_tests = detection_reports.open_progress(ids)
    counts = _counts(test.pk for test in tests.values())
    tiles = tuple(
        _tile(row, claims.get(row.pk), known[row.pk], _Tests(tests.get(row.pk), open_tests.get(row.pk), counts))
        for row in sorted(rows, key=lambda row: (row.server.simulated, row.server_id, row.pk))
    )
    bulk = detection_reports.bulk(person) if open_tests else None
    waiting = {tile.id for tile in tiles if not tile.verdict and not tile.open}
    took = {profile: (test.run_ms or 0) + (test.load_ms or 0) for profile, test in newest.items()}
    return EvidenceOverview(
        tiles=tiles,
        native=_share(tiles, True, "proven"),
        text=_share(tiles, False, "text"),
        seconds_left=bulk.left if bulk and bulk.open else 0,
        surprise=_surprise(tiles, tests, {row.pk: row for row in rows}),
        expected=tuple(first_tests.expected(row, took.get(row.pk, 0)) for row in rows if row.pk in waiting),
    )


@dataclass(frozen=True, slots=True)
class _Tests:
    """The newest finished test of a model, the steps of its open one, and the counted trials of all tests."""

    newest: Detection | None
    progress: list[dict[str, Any]] | None
    counts: FormatCounts


def _tile(row: ModelProfile, claims: bool | None, known: Capabilities, tests: _Tests) -> ModelTile:
    newest, progress = tests.newest, tests.progress
    verdict, detection = (newest.verdict, newest.pk) if newest else ("", 0)
    evidence, words = _proof(newest, tests.counts) if newest else UNTESTED
    if progress is not None:
        done = sum(step.get("state") not in ("running", "waiting") for step in progress)
        evidence, words = ("testing", f"Step {done + 1} of {len(progress)}") if progress else ("claimed", "Queued")
    elif known["tools"].source == "user_confirmed" and known["tools"].value is False:
        evidence, words = "off", "Turned off by a person"
    name = row.name.removesuffix(":latest")
    return ModelTile(row.pk, name, row.server.name, claims, evidence, words, verdict, detection, progress is not None)


def _proof(test: Detection, counts: FormatCounts) -> tuple[str, str]:
    state, words = PROOFS.get(test.verdict, UNTESTED)
    detail, name = test.detail, str(test.detail.get("format", ""))
    passed, tried = detail.get("passed", 0), detail.get("tried", 0)
    if test.verdict == "text":
        passed, tried = counts.get((test.pk, name), (0, 0))
    elif test.verdict == "flaky" and not passed:
        words = "Wrong calls {}"
    share = f"{passed}/{tried}" if tried else ""
    return state, words.replace("{format}", label(name) if name else "Text mode").replace("{}", share).strip()


def _claims(profiles: Sequence[int]) -> dict[int, bool | None]:
    """Return what the servers last claimed about native tool calls."""
    rows = Override.objects.filter(profile__in=profiles, capability="tools", source="declared", withdraws=None)
    return {profile: value for profile, value in rows.order_by("seq").values_list("profile", "value")}


def _newest(profiles: Sequence[int]) -> dict[int, Detection]:
    """Return the newest finished test of native tools of each model, of whatever build."""
    over = Detection.objects.filter(profile__in=profiles, kind="tools", status="done")
    last = over.values("profile").annotate(last=Max("pk")).values_list("last", flat=True)
    rows = Detection.objects.filter(pk__in=last).select_related("profile__server")
    return {row.profile_id: row for row in rows}


def _counts(tests: Iterable[int]) -> FormatCounts:
    rows = Trial.objects.filter(detection__in=list(tests), step="formats").exclude(passed=None).order_by()
    counted = rows.values_list("detection", "response__subject").annotate(
        passed=Count("pk", filter=Q(passed=True)), tried=Count("pk")
    )
    return {(test, str(subject)): (passed, tried) for test, subject, passed, tried in counted}


def _share(tiles: Iterable[ModelTile], claims: bool, evidence: str) -> tuple[int, int]:
    tested = [tile for tile in tiles if tile.claims is claims and tile.verdict not in ("", "inconclusive")]
    return sum(tile.evidence == evidence for tile in tested), len(tested)


def _surprise(
    tiles: Iterable[ModelTile], tests: Mapping[int, Detection], rows: Mapping[int, ModelProfile]
) -> Surprise | None:
    """Return the clearest contradiction between a claim and its proof."""
    found = [tile for tile in tiles if tile.verdict in SURPRISES[tile.claims] and not tile.open]
    if not found:
        return None
    tile = min(found, key=lambda tile: (tile.claims is not True, SURPRISES[tile.claims].index(tile.verdict), tile.id))
    test = tests[tile.id]
    trials = Trial.objects.filter(detection=test, step__in=("called", "formats")).exclude(passed=None)
    trial = trials.filter(passed=tile.evidence in ("proven", "text")).order_by("seq").first()
    abilities = rows[tile.id].abilities
    claimed = ", ".join(f'"{ability}"' for ability in abilities or ())
    return Surprise(tile, claimed, str(test.detail.get("reason", "")), _reply(trial.response if trial else {}))


def _reply(response: Mapping[str, Any]) -> str:
    """Return the beginning of a recorded reply: its calls, else its text."""
    calls = response.get("calls") or []
    if calls:
        given = ", ".join(f"{name}: {value}" for name, value in (calls[0].get("arguments") or {}).items())
        return f"{calls[0].get('name', '')}({given})"[:LONGEST]
    text = " ".join(str(response.get("refused") or response.get("text") or "").split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"

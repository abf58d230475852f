"""Compares what the server of each model claims with what tests proved, for the page of the first visit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolsupport.core.evidence_state import ModelEvidence
from toolsupport.core.name_order import by_name
from toolsupport.models import Detection, ModelProfile, Override, Trial
from toolsupport.registry.knowledge import model_evidence
from toolsupport.registry.knowledge.effective_values import known_of_each
from toolsupport.registry.models import picker
from toolsupport.registry.testing import detection_reports, first_test_order
from toolsupport.registry.testing.first_test_order import ExpectedTest

CLAIMS = {True: "Claims tools", False: "Claims no tools", None: "Claims nothing"}
# Verdicts that contradict a claim, the clearest contradiction first.
SURPRISES = {True: ("ignored", "refused", "text", "flaky"), False: ("native", "text"), None: ("native", "text")}
# The sentence "… claims tools" continues with these words.
CONTRADICTIONS = {
    "ignored": " and never calls one",
    "refused": ", but its server refuses them",
    "text": ", but works in text mode",
    "flaky": ", but calls them unreliably",
    "native": ", but calls the right tool",
}
LONGEST = 160  # characters of a reply on the page


@dataclass(frozen=True, slots=True)
class ModelTile:
    """A model: `claims` None if its server claims nothing."""

    id: int
    name: str
    server: str
    claims: bool | None
    found: ModelEvidence
    down: bool = False  # its server did not answer

    @property
    def claim(self) -> str:
        return CLAIMS[self.claims]

    @property
    def evidence(self) -> str:
        """The look of its badge."""
        return self.found.look

    @property
    def words(self) -> str:
        return self.found.result

    @property
    def verdict(self) -> str:
        """The verdict of the test behind its state, "" without one."""
        return self.found.verdict

    @property
    def detection(self) -> int:
        return self.found.test

    @property
    def open(self) -> bool:
        """Whether a test of it runs or waits."""
        return self.found.state in ("testing", "queued")


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
    """All models that can chat.

    `native` is (models that call tools, tested models whose servers claim tools), `others` that of the other models,
    of which those in text mode count too; `others_call` is whether any of these calls tools. `no_chat` counts
    the models that are left out because they do not chat.
    """

    tiles: tuple[ModelTile, ...]
    native: tuple[int, int]
    others: tuple[int, int]
    others_call: bool
    seconds_left: int
    surprise: Surprise | None
    no_chat: int = 0
    expected: tuple[ExpectedTest, ...] = ()

    @property
    def servers(self) -> list[str]:
        return sorted({tile.server for tile in self.tiles}, key=by_name)

    @property
    def tested(self) -> int:
        return sum(bool(tile.verdict) and not tile.open for tile in self.tiles)

    @property
    def untested(self) -> list[int]:
        """The ids of the models without a verdict and without a test, the quickest test first."""
        return first_test_order.in_order(self.expected)

    @property
    def first(self) -> list[int]:
        """The models that are tested on a first visit; all others are offered afterwards."""
        return self.untested if self.tested else first_test_order.first(self.expected)[0]

    @property
    def first_seconds(self) -> int:
        return _in_fives(first_test_order.first(self.expected)[1])

    @property
    def left_out(self) -> list[tuple[ModelTile, int]]:
        """The models that the tests of a first visit leave out, each with the seconds that its test will take."""
        first = () if self.wanted else self.first
        tests = {test.profile: test.seconds for test in self.expected if test.profile not in first}
        names = {tile.id: tile for tile in self.tiles}
        return [(names[profile], _in_fives(tests[profile])) for profile in self.untested if profile in tests]

    @property
    def claiming(self) -> int:
        return sum(tile.claims is True for tile in self.tiles)

    @property
    def not_claiming(self) -> int:
        """The models of servers that claim no tools, or nothing."""
        return len(self.tiles) - self.claiming

    @property
    def testing(self) -> int:
        """Models whose tests run or wait."""
        return sum(tile.open for tile in self.tiles)

    @property
    def inconclusive(self) -> int:
        """The tested models that neither number of the headline counts."""
        return self.tested - self.native[1] - self.others[1]

    @property
    def wanted(self) -> int:
        """Models with a result, or with a test that runs or waits."""
        return self.tested + self.testing

    @property
    def total(self) -> int:
        return len(self.tiles)

    @property
    def best(self) -> ModelTile | None:
        """A model that was proven to call tools, on a server that answers."""
        return self._usable("proven")

    @property
    def without(self) -> ModelTile | None:
        """A model without native tool calls that was proven in text mode, on a server that answers."""
        return self._usable("text")

    def _usable(self, evidence: str) -> ModelTile | None:
        return next((tile for tile in self.tiles if tile.evidence == evidence and not tile.down), None)


def read(person: int | None) -> EvidenceOverview:
    """Return the overview for a person, whose own running tests give the time that is left."""
    there = [row for row in picker.offered() if row.gone_since is None]
    rows = [row for row in there if row.chats]
    claims, evidence = _claims([row.pk for row in rows]), model_evidence.of_each(rows, known_of_each(rows))
    down = {row.pk for row in rows if row.server.reachable is False}
    tiles = tuple(
        ModelTile(
            row.pk,
            row.name.removesuffix(":latest"),
            row.server.name,
            claims.get(row.pk),
            evidence[row.pk],
            row.pk in down,
        )
        for row in sorted(rows, key=lambda row: (row.server.simulated, row.server_id, row.pk))
    )
    bulk = detection_reports.bulk(person) if any(tile.open for tile in tiles) else None
    waiting = {tile.id for tile in tiles if not tile.verdict and not tile.open}
    took = _took(waiting) if waiting else {}
    return EvidenceOverview(
        tiles=tiles,
        native=_share([tile for tile in tiles if tile.claims], ("proven",)),
        others=_share([tile for tile in tiles if not tile.claims], ("proven", "text")),
        others_call=any(tile.evidence == "proven" for tile in tiles if not tile.claims),
        seconds_left=bulk.left if bulk and bulk.open else 0,
        surprise=_surprise(tiles, {row.pk: row for row in rows}),
        no_chat=len(there) - len(rows),
        expected=tuple(
            first_test_order.expected(row, took.get(row.pk, 0), claims.get(row.pk) is True)
            for row in rows
            if row.pk in waiting - down
        ),
    )


def _claims(profiles: Sequence[int]) -> dict[int, bool | None]:
    """Return the servers' last claims about native tool calls."""
    rows = Override.objects.filter(profile__in=profiles, capability="tools", source="declared", withdraws=None)
    return {profile: value for profile, value in rows.order_by("seq").values_list("profile", "value")}


def _took(profiles: Iterable[int]) -> dict[int, int]:
    """Return the duration of the newest finished test of native tools of each model, of any build, in ms."""
    over = Detection.objects.filter(profile__in=list(profiles), kind="tools", status="done").order_by("pk")
    return {pk: (run or 0) + (load or 0) for pk, run, load in over.values_list("profile", "run_ms", "load_ms")}


def _in_fives(seconds: float) -> int:
    return math.ceil(seconds / 5) * 5


def _share(tiles: Iterable[ModelTile], working: Sequence[str]) -> tuple[int, int]:
    tested = [tile for tile in tiles if tile.verdict not in ("", "inconclusive")]
    return sum(tile.evidence in working for tile in tested), len(tested)


def _surprise(tiles: Iterable[ModelTile], rows: Mapping[int, ModelProfile]) -> Surprise | None:
    """Return the clearest contradiction between a claim and its proof."""
    found = [tile for tile in tiles if tile.verdict in SURPRISES[tile.claims] and tile.detection and not tile.open]
    if not found:
        return None
    tile = min(found, key=lambda tile: (tile.claims is not True, SURPRISES[tile.claims].index(tile.verdict), tile.id))
    test = Detection.objects.get(pk=tile.detection)
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

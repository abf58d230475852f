"""Acts of people, tests and servers in any order: nothing is lost, and no machine overrules a person."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.contrib.auth.models import User
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests.effective_values import holding
from tests.examples import at_least
from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.errors import Conflict
from toolsupport.core.server_refusals import MALFORMED, MISCONFIGURED, OTHER, UNSUPPORTED, Refusal
from toolsupport.core.types import ChatSettings, ToolSpec
from toolsupport.models import HistoryEntry, ModelProfile, Override
from toolsupport.registry.knowledge import effective_values, overrides, reviews
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.knowledge.reviews import NewReview
from toolsupport.registry.models import request_context
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest, DetectionResult
from toolsupport.services import refusal_learning
from toolsupport.services.refusal_learning import LearningChoice, ObservedRefusal

CHAT = "a-conversation"
TOOLS = [ToolSpec("read_file", "Reads a file.")]


class World:
    """One model with a reviewer and somebody who may only propose."""

    def __init__(self) -> None:
        self.profile: ModelProfile = ModelProfileFactory(name="nobody-knows-it:1b")
        self.rita: User = UserFactory(role="reviewer")
        self.alice: User = UserFactory(role="user")

    def decide(self, value: bool) -> None:
        overrides.add(NewOverride(self.profile.pk, "tools", value, actor=self.rita.pk))

    def propose(self, value: bool) -> None:
        overrides.add(NewOverride(self.profile.pk, "tools", value, actor=self.alice.pk, proposed=True))

    def review(self, deed: str, which: int, without: str = "") -> None:
        rows = HistoryEntry.objects.filter(profile=self.profile).exclude(kind=without)
        entries = list(rows.order_by("pk").values_list("pk", flat=True))
        if entries:
            with suppress(Conflict, ValueError):
                reviews.act(deed, NewReview(entries[which % len(entries)], self.rita.pk, "because"))

    def follow(self) -> None:
        overrides.follow_evidence(NewOverride(self.profile.pk, "tools", actor=self.rita.pk))

    def save(self, choice: str, allowed: bool) -> None:
        person = self.rita if allowed else self.alice
        refusal_learning.learn(choice, LearningChoice(self.profile.pk, CHAT, person.pk))

    def declare(self, value: bool) -> None:
        overrides.declare(self.profile.pk, {"tools": value})

    def detect(self, value: bool | None) -> None:
        test = detections.open_test(DetectionRequest(self.profile.pk, "page")).id
        detections.claim("worker")
        values = {} if value is None else {"tools": value}
        detections.conclude(test, "worker", DetectionResult("native" if value else "ignored", values=values))

    def refuse(self, label: str) -> None:
        refusal_learning.record_refusal(ObservedRefusal(self.profile.pk, Refusal(label, "a-rule", "no tools"), 400))

    def pull(self, digest: str) -> None:
        self.profile.digest = digest
        self.profile.save()


PEOPLE = st.one_of(
    st.tuples(st.just("decide"), st.booleans()),
    st.tuples(st.just("propose"), st.booleans()),
    st.tuples(st.just("review"), st.sampled_from([*reviews.DEEDS]), st.integers(0, 20)),
    st.tuples(st.just("follow")),
    st.tuples(st.just("save"), st.sampled_from([*refusal_learning.CHOICES]), st.booleans()),
)
MACHINES = st.one_of(
    st.tuples(st.just("declare"), st.booleans()),
    st.tuples(st.just("detect"), st.sampled_from([True, False, None])),
    st.tuples(st.just("refuse"), st.sampled_from([UNSUPPORTED, MISCONFIGURED, MALFORMED, OTHER])),
    st.tuples(st.just("pull"), st.sampled_from(["one", "two"])),
)
ACTS = st.lists(st.one_of(PEOPLE, MACHINES), max_size=8)
slow = settings(max_examples=at_least(6), suppress_health_check=[HealthCheck.too_slow])


def perform(world: World, act: tuple[Any, ...]) -> None:
    doing: Callable[..., None] = getattr(world, act[0])
    doing(*act[1:])


def rows(model: Any) -> dict[int, dict[str, Any]]:
    return {row["id"]: row for row in model.objects.order_by("pk").values()}


def assert_told_by_its_test(row: Override) -> None:
    """Every test keeps rows of its own; a row that finds the same again is told by the line of its test alone."""
    assert row.source == "auto_detected" and row.withdraws is None
    same = Override.objects.filter(profile=row.profile, capability=row.capability, build_key=row.build_key)
    earlier = same.filter(source="auto_detected", withdraws=None, seq__lt=row.seq).order_by("seq").last()
    assert earlier is not None and earlier.value is row.value and earlier.detection_id != row.detection_id
    line = HistoryEntry.objects.get(detection=row.detection_id, facet__kind="detection")
    assert "Confirmed:" in line.text


class Knowledge(TestCase):
    # D3, D10, D11: append-only, and what holds is the fold
    @slow
    @given(ACTS)
    @example([("detect", True), ("detect", True)])
    @example([("detect", True), ("decide", False), ("detect", True), ("detect", False), ("detect", False)])
    def test_rows_are_only_added_and_their_fold_stands(self, acts: list[tuple[Any, ...]]) -> None:
        world = World()
        for act in acts:
            before = {model: rows(model) for model in (Override, HistoryEntry)}
            perform(world, act)
            for model, kept in before.items():
                assert kept.items() <= rows(model).items()
            fresh = ModelProfile.objects.select_related("server").get(pk=world.profile.pk)
            folded = effective_values.fold(fresh, effective_values.claims([fresh.pk])[fresh.pk])
            assert effective_values.known(fresh) == folded
        told = set(HistoryEntry.objects.exclude(override=None).values_list("override_id", flat=True))
        assert told <= set(rows(Override))
        for row in Override.objects.exclude(pk__in=told):
            assert_told_by_its_test(row)

    # D3: no machine overrides a person
    @slow
    @given(ACTS, st.booleans(), st.lists(MACHINES, max_size=5))
    def test_no_machine_overrides_a_person(
        self, acts: list[tuple[Any, ...]], decided: bool, machines: list[tuple[Any, ...]]
    ) -> None:
        world = World()
        for act in acts:
            perform(world, act)
        world.decide(decided)
        for act in machines:
            perform(world, act)
        known = effective_values.known(ModelProfile.objects.select_related("server").get(pk=world.profile.pk))["tools"]
        assert (known.value, known.source) == (decided, "user_confirmed")

    # D1, D5: what is unknown stays off, and only a yes sends tools
    @slow
    @given(ACTS)
    def test_tools_are_offered_natively_only_where_they_are_known_to_work(self, acts: list[tuple[Any, ...]]) -> None:
        world = World()
        for act in acts:
            perform(world, act)
        for session in ("", CHAT):
            profile = ModelProfile.objects.select_related("server").get(pk=world.profile.pk)
            known = effective_values.known(profile, session)["tools"]
            made = request_context.for_profile(
                profile, request_context.offer(TOOLS), ChatSettings(), session
            ).request_spec
            assert (made.format == "native") == (known.value is True)
        refused = [row for row in rows(HistoryEntry).values() if row["kind"] == "refusal"]
        assert {row["before"] == row["after"] for row in refused} <= {True}

    # D10: a proposal, a disagreement or a refusal changes nothing for everyone
    @slow
    @given(
        ACTS,
        st.lists(
            st.one_of(
                st.tuples(st.just("propose"), st.booleans()),
                st.tuples(st.just("review"), st.sampled_from(["disagree", "reject"]), st.integers(0, 20)),
                # Agreeing with a proposal accepts it, which is a decision.
                st.tuples(st.just("review"), st.just("agree"), st.integers(0, 20), st.just("proposal")),
                st.tuples(st.just("refuse"), st.just(UNSUPPORTED)),
                st.tuples(st.just("save"), st.sampled_from([*refusal_learning.CHOICES]), st.just(False)),
            ),
            max_size=5,
        ),
    )
    @example([("propose", False)], [("review", "agree", 0, "proposal"), ("review", "reject", 0)])
    def test_opinions_change_no_value(self, acts: list[tuple[Any, ...]], opinions: list[tuple[Any, ...]]) -> None:
        world = World()
        for act in acts:
            perform(world, act)
        before = holding(world.profile)
        for act in opinions:
            perform(world, act)
        after = holding(world.profile)
        assert before.value == after.value

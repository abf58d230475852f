"""Merging user_models.json into the rows: the permitted changes, and that a round trip loses nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests.effective_values import holding
from tests.examples import at_least
from tests.factories import ModelProfileFactory, ServerFactory
from tests.toolsupport.core.test_user_models import UNKNOWN, entries
from toolsupport.core import user_models
from toolsupport.core.errors import ConfigError
from toolsupport.core.user_models import UserModel, UserModelsFile
from toolsupport.models import HistoryEntry, ModelProfile, Override, Server, Setting
from toolsupport.registry import write_steps
from toolsupport.registry.knowledge import overrides, team_families
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import user_models_merge
from toolsupport.registry.models.user_models_merge import MergeConsent, MergePlan

THEN = datetime(2025, 11, 3, 10, tzinfo=UTC)


@pytest.fixture
def profile(db: None) -> ModelProfile:
    made = ModelProfileFactory(name="qwen3:8b", server=ServerFactory(name="box"))
    return made


def told(value: bool | None = True, source: str = "user_confirmed", **fields: Any) -> UserModel:
    said = UserModel("qwen3:8b", "qwen3:8b", "ollama", None, value, source, THEN if value is not None else None)
    return replace(said, **fields)


def merged(
    *chosen: UserModel, confirm: bool = False, outrank: bool = False, actor: int | None = None
) -> tuple[MergePlan, ...]:
    everything, none = frozenset(range(len(chosen))), frozenset[int]()
    ticks = MergeConsent(actor, everything if confirm else none, everything if outrank else none)
    return user_models_merge.merge(UserModelsFile(chosen), ticks)


def tools(profile: ModelProfile) -> tuple[Any, str]:
    row = holding(profile, "tools")
    return row.value, row.source


def rows(profile: ModelProfile) -> list[tuple[Any, str, bool]]:
    return list(profile.overrides.order_by("seq").values_list("value", "source", "proposed"))


def test_what_others_confirmed_is_a_proposal_until_it_is_ticked(profile: ModelProfile) -> None:  # M6
    before = tools(profile)
    assert merged(told(False))[0].needs == {"confirm"}
    assert (tools(profile), rows(profile)) == (before, [(False, "user_confirmed", True)])
    merged(told(False))
    assert len(rows(profile)) == 1, "the same proposal waits already"


def test_ticked_it_is_the_importers_decision(profile: ModelProfile, bob: User) -> None:  # M6
    merged(told(False), confirm=True, actor=bob.pk)
    assert tools(profile) == (False, "user_confirmed")
    row = Override.objects.get(profile=profile)
    assert (row.actor, row.said_at, row.build_key) == (bob, THEN, profile.build.key)
    assert merged(told(False), confirm=True)[0].changes == (), "the second time there is nothing to do"


@pytest.mark.parametrize("outrank", [True, False])
def test_a_decision_made_here_stands_unless_outranking_is_ticked(profile: ModelProfile, outrank: bool) -> None:  # M6
    overrides.add(NewOverride(profile.pk, "tools", True))
    assert merged(told(False), confirm=True, outrank=outrank)[0].needs == {"outrank"}
    assert tools(profile) == (not outrank, "user_confirmed")
    assert rows(profile)[-1] == (False, "user_confirmed", not outrank)


@pytest.mark.parametrize("source", ["auto_detected", "runtime_error"])
def test_a_measurement_without_a_build_is_stale(profile: ModelProfile, source: str) -> None:  # M6
    merged(told(False, source))
    assert tools(profile) == (False, "auto_detected_stale")
    overrides.declare(profile.pk, {"tools": True})
    assert tools(profile) == (True, "declared")


def test_a_measurement_of_this_very_build_counts(profile: ModelProfile) -> None:  # M3
    build = {"digest": profile.digest, "template_hash": "", "server_version": profile.server.version}
    merged(told(False, "auto_detected", build=build))
    assert tools(profile) == (False, "auto_detected")
    assert merged(told(False, "auto_detected", build=build))[0].changes == ()


def test_it_does_not_take_the_place_of_one_made_here(profile: ModelProfile) -> None:  # M6
    overrides.add(NewOverride(profile.pk, "tools", True, "auto_detected"))
    build = {"digest": profile.digest, "template_hash": "", "server_version": profile.server.version}
    merged(told(False, "auto_detected", build=build))
    assert tools(profile) == (True, "auto_detected")


@pytest.mark.parametrize("source", ["profile", "default", "", "somewhere"])
def test_what_nobody_said_is_not_taken(profile: ModelProfile, source: str) -> None:
    assert merged(told(False, source))[0].changes == ()
    assert rows(profile) == []


def test_texts_that_people_wrote_here_stay_unless_ticked(profile: ModelProfile) -> None:  # M6
    changed = told(None, "", description="From there", default_context=16384, extra={"note": 1})
    merged(changed)
    profile.refresh_from_db()
    assert (profile.description, profile.default_context, profile.extra) == ("From there", 16384, {"note": 1})
    again = replace(changed, description="Another", default_context=999, extra={"note": 2})
    assert {change.needs for change in merged(again)[0].changes} == {"outrank"}
    profile.refresh_from_db()
    assert (profile.description, profile.default_context, profile.extra) == ("From there", 16384, {"note": 1})
    merged(again, outrank=True)
    profile.refresh_from_db()
    assert (profile.description, profile.default_context, profile.extra) == ("Another", 999, {"note": 2})


def test_a_model_nobody_has_listed_yet_is_added_to_its_server(profile: ModelProfile) -> None:
    merged(replace(told(), id="mine:1b", name="Mine"), confirm=True)
    made = ModelProfile.objects.get(name="mine:1b")
    assert (made.server, made.default_context, made.extra) == (profile.server, 4096, {"name": "Mine"})
    assert tools(made) == (True, "user_confirmed")


def test_a_model_without_a_server_waits_for_one(profile: ModelProfile) -> None:
    away = replace(told(), source="vllm", extra={"kept": [1]})
    plan = merged(away, confirm=True)[0]
    assert (plan.state, "vllm" in plan.note) == ("aside", True)
    assert user_models_merge.exported().entries[-1] == away
    ServerFactory(name="far", kind="vllm")
    assert merged(away, confirm=True)[0].state == "new"
    assert [entry.server for entry in user_models_merge.exported().entries] == ["box", "far"]
    assert not Setting.objects.filter(key="user_models_aside").exists()


def test_two_servers_of_a_kind_are_told_apart(profile: ModelProfile) -> None:
    other = ServerFactory(name="lab")
    assert merged(told())[0].server == "box", "only that one has the model"
    ModelProfileFactory(name="qwen3:8b", server=other)
    assert merged(told())[0].state == "aside"
    assert merged(told(server="lab"))[0].server == "lab"


def test_one_model_must_not_be_meant_twice(profile: ModelProfile) -> None:
    with pytest.raises(ConfigError, match=r"user_models\[1\]: is the same model here as \[0\]"):
        merged(told(), told(server="box"), confirm=True)
    assert rows(profile) == []


def test_a_file_that_cannot_be_merged_changes_nothing(
    profile: ModelProfile, monkeypatch: pytest.MonkeyPatch
) -> None:  # M6
    monkeypatch.setattr(write_steps, "STEP", 1)
    with pytest.raises(ConfigError, match="is the same model here"):
        merged(replace(told(), id="mine:1b"), told(), told(server="box"), confirm=True)
    assert rows(profile) == [] and not ModelProfile.objects.filter(name="mine:1b").exists()


def test_a_failure_in_the_middle_leaves_whole_entries_and_the_same_file_finishes(
    profile: ModelProfile, monkeypatch: pytest.MonkeyPatch
) -> None:  # M6, S2
    monkeypatch.setattr(write_steps, "STEP", 1)
    chosen = told(), replace(told(), id="mine:1b"), replace(told(), source="vllm")
    with monkeypatch.context() as broken:
        broken.setattr(team_families, "assign", lambda given: 1 / 0 if given else None)
        with pytest.raises(ZeroDivisionError):
            merged(*chosen, confirm=True)
    assert rows(profile) == [(True, "user_confirmed", False)]
    assert not ModelProfile.objects.filter(name="mine:1b").exists()
    assert [one.state for one in merged(*chosen, confirm=True)] == ["known", "new", "aside"]
    assert len(rows(profile)) == 1 and len(rows(ModelProfile.objects.get(name="mine:1b"))) == 1
    assert [entry.source for entry in user_models_merge.exported().entries] == ["ollama", "ollama", "vllm"]


def test_what_one_step_adds_does_not_change_the_server_of_a_later_entry(
    profile: ModelProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_steps, "STEP", 1)
    ServerFactory(name="lab")
    made = merged(told(id="mine:1b", server="lab"), told(id="mine:1b"))
    assert [(one.state, one.server) for one in made] == [("new", "lab"), ("aside", "")]


def forget_everything() -> None:
    HistoryEntry.objects.all().delete()
    Override.objects.all().delete()
    ModelProfile.objects.all().delete()
    Setting.objects.all().delete()


class RoundTrip(TestCase):
    """Any file, merged with all ticks into a site, then from there into another one with the same servers."""

    @settings(max_examples=at_least(10), suppress_health_check=list(HealthCheck))
    @given(
        st.lists(
            st.sampled_from(["box", "lab"]).flatmap(entries)
            | entries().map(lambda entry: replace(entry, source="vllm")),
            max_size=4,
            unique_by=lambda entry: entry.key,
        ),
        UNKNOWN,
    )
    def test_export_import_export_is_the_identity(self, chosen: list[UserModel], extra: dict[str, Any]) -> None:  # M6
        for name in ("box", "lab"):
            Server.objects.create(name=name, kind="ollama", base_url="http://127.0.0.1:1")
        everything = frozenset(range(len(chosen)))
        user_models_merge.merge(UserModelsFile(tuple(chosen), extra), MergeConsent(None, everything, everything))
        first = user_models.write(user_models_merge.exported())
        assert {entry.key for entry in user_models_merge.exported().entries} == {entry.key for entry in chosen}
        forget_everything()
        user_models_merge.merge(user_models.read(first.encode()), MergeConsent(None, everything, everything))
        assert user_models.write(user_models_merge.exported()) == first
        user_models_merge.merge(user_models.read(first.encode()), MergeConsent(None, everything, everything))
        assert user_models.write(user_models_merge.exported()) == first, "merging it once more changes nothing"


def test_a_path_is_taken_where_a_server_here_lists_it_and_nowhere_else(db: None) -> None:  # M6
    listed = ModelProfileFactory(name="/models/a.gguf", server=ServerFactory(name="box", kind="llamacpp"))
    known = UserModel(listed.name, listed.name, "llamacpp")
    assert [one.state for one in user_models_merge.plan(UserModelsFile((known,)))] == ["known"]
    for path in ("/models/b.gguf", "../b", r"C:\b"):
        for server in ("box", "elsewhere"):
            with pytest.raises(ConfigError, match=r"^user_models\[1\].id: the name .* is a path"):
                merged(known, replace(known, id=path, name=path, server=server))
    assert not Override.objects.exists() and ModelProfile.objects.count() == 1


def test_many_models_take_few_statements(db: None, django_assert_max_num_queries: Any, bob: User) -> None:  # M6
    ServerFactory(name="box")
    sources = ("user_confirmed", "auto_detected", "declared")
    many = [told(number % 2 == 0, sources[number % 3], id=f"m{number}", name=f"M {number}") for number in range(300)]
    # 26 for each step, whatever its number of models.
    with django_assert_max_num_queries(160):
        merged(*many, confirm=True, actor=bob.pk)
    assert (ModelProfile.objects.count(), Override.objects.count(), HistoryEntry.objects.count()) == (300, 300, 300)
    assert tools(ModelProfile.objects.get(name="m3")) == (False, "user_confirmed")
    entry = HistoryEntry.objects.get(profile__name="m0")
    assert (entry.before, entry.after, entry.actor, entry.kind) == (None, True, bob, "override")
    again = [replace(one, description=f"About {one.id}") for one in many]
    with django_assert_max_num_queries(300 + 160):
        merged(*again, confirm=True, actor=bob.pk)
    assert ModelProfile.objects.get(name="m7").description == "About m7"
    assert Override.objects.count() == 300

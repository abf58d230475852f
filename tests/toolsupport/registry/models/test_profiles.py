"""The data of the model pages."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.core.errors import NotFound
from toolsupport.models import ModelProfile
from toolsupport.registry.history import model_timeline
from toolsupport.registry.history.model_timeline import EvidenceLine
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import capability_details, profiles
from toolsupport.registry.settings import model_settings
from toolsupport.registry.settings.model_settings import ModelOptions

pytestmark = pytest.mark.django_db


def test_the_matrix_has_a_cell_for_each_column_with_its_source():
    profile = ModelProfileFactory(name="qwen3:8b", context_length=40960)
    overrides.add(NewOverride(profile.pk, "tools", False))
    (row,) = profiles.listed()
    cells = {cell.capability: cell for cell in row.cells}
    assert [cell.capability for cell in row.cells] == [name for name, _ in profiles.COLUMNS]
    assert (cells["tools"].state, cells["tools"].source, row.evidence.state) == ("no", "person", "off")
    assert (cells["context"].words, cells["context"].letter) == ("40K", "D")
    assert (cells["leaves_alone"].state, cells["leaves_alone"].letter) == ("unknown", "–")


def test_gone_models_come_last_and_are_marked():
    ModelProfileFactory(name="a", gone_since="2026-01-01T00:00Z")
    ModelProfileFactory(name="b")
    assert [(row.name, row.gone) for row in profiles.listed()] == [("b", False), ("a", True)]


def test_the_page_of_a_model_tells_the_whole_history():
    ana = UserFactory(username="ana", first_name="Ana", last_name="Sol")
    profile = ModelProfileFactory(name="strange")
    overrides.declare(profile.pk, {"tools": True})
    overrides.add(NewOverride(profile.pk, "tools", False, actor=ana.pk, reason="it babbles"))
    assert [(line.words, line.text, line.changes[0].after) for line in _lines(profile)] == [
        ("Ana Sol set Native tool calls to No", "it babbles", "No"),
        ("The server claims", "", "Yes"),
    ]
    native = capability_details.decidable(profile, profiles.shown(profile.pk).claims)["tools"]
    assert (native.decided, native.value, native.newest) == (True, False, 2)
    assert native.chain[0].state == "in_force" and "Ana Sol" in native.chain[0].fact
    overrides.follow_evidence(NewOverride(profile.pk, "tools", actor=ana.pk))
    overrides.undo(NewOverride(profile.pk, "tools", actor=ana.pk, newest=3), 1)
    restored, removed, *_ = _lines(profile)
    assert removed.words == "Ana Sol removed the override of Native tool calls"
    assert restored.words == "Ana Sol restored a value of Native tool calls"
    assert [(one.before, one.after) for one in (*removed.changes, *restored.changes)] == [("No", "Yes"), ("Yes", "No")]


def test_the_timeline_lists_a_claim_that_changes_nothing():  # D1
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True, actor=UserFactory().pk))
    overrides.declare(profile.pk, {"tools": True, "vision": False})
    claims, _ = _lines(profile)
    assert [(one.title, one.before, one.after) for one in claims.changes] == [
        ("Native tool calls", "", "Yes"),
        ("Vision", "Not measured", "No"),
    ]


def _lines(profile: ModelProfile) -> tuple[EvidenceLine, ...]:
    return model_timeline.of_model(profile.pk, profiles.shown(profile.pk).claims).lines


def test_a_decision_for_an_older_build_says_so():  # M3
    profile = ModelProfileFactory(digest="old")
    overrides.add(NewOverride(profile.pk, "tools", True))
    ModelProfile.objects.update(digest="new")
    cell = next(cell for cell in profiles.shown(profile.pk).cells if cell.capability == "tools")
    assert cell.stale is True
    assert "older build" in cell.reason


def test_options_are_kept_beside_others():
    profile = ModelProfileFactory(options={"timeouts": {"connect": 1}, "think": True})
    model_settings.save(profile.pk, ModelOptions(4096, 0.0, "10m", None))
    profile.refresh_from_db()
    assert profile.options == {"timeouts": {"connect": 1}, "temperature": 0.0, "keep_alive": "10m"}
    assert profile.default_context == 4096
    with pytest.raises(NotFound):
        model_settings.save(10**6, ModelOptions(4096))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("tools", None, ("unknown", "not measured")),
        ("tools", True, ("yes", "yes")),
        ("tools", False, ("no", "no")),
        ("format", "hermes", ("value", "Hermes")),
        ("context", 131072, ("value", "128K")),
        ("context", 512, ("value", "512")),
        ("max_tools", 0, ("value", "0")),
        ("max_tools", 1, ("value", "1")),
    ],
)
def test_values_in_words(name: str, value: object, said: tuple[str, str]):
    assert profiles.state_and_words(name, value) == said


def test_what_is_not_there_is_not_found():
    for read in (profiles.shown, profiles.capabilities):
        with pytest.raises(NotFound):
            read(10**6)


def test_three_hundred_models_take_few_queries(django_assert_max_num_queries: DjangoAssertNumQueries):
    ModelProfileFactory.create_batch(300, server=ServerFactory())
    with django_assert_max_num_queries(5):
        assert len(profiles.listed()) == 300

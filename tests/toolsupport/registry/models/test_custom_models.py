"""Models and descriptions that people write, and that surveys keep them."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.models import Family, ModelProfile
from toolsupport.providers import ModelReport, ServerReport
from toolsupport.registry.knowledge import effective_values
from toolsupport.registry.models import custom_models, picker, surveys, user_models_merge
from toolsupport.registry.models.custom_models import ModelDescription

pytestmark = pytest.mark.django_db


def listed(profile: ModelProfile, *names: str) -> ModelProfile:
    """The model after its server listed these."""
    models = tuple(ModelReport(name=name, digest="d", quantization="Q4_K_M") for name in names)
    surveys.record_survey(profile.server_id, ServerReport("1", models))
    return ModelProfile.objects.select_related("server").get(pk=profile.pk)


def test_a_defined_model_is_there_though_its_server_does_not_list_it() -> None:  # M5 M6
    server = ServerFactory(name="box", kind="openai")
    made = ModelProfile.objects.get(pk=custom_models.define(server.pk, "qwen3:8b"))
    assert (made.description, made.default_context, made.abilities) == ("Custom model", 4096, [])
    assert made.family == "qwen3" and effective_values.known(made)["tools"].source == "profile"
    [entry] = user_models_merge.exported().entries
    assert (entry.id, entry.name, entry.source, entry.context_profiles) == ("qwen3:8b", "qwen3:8b", "openai", ())
    made = listed(made, "other")
    assert made.gone_since is None and picker.find("qwen3:8b") == made.pk


def test_a_model_is_defined_once_and_one_that_is_gone_comes_back() -> None:
    there, gone = ModelProfileFactory(name="a"), ModelProfileFactory(name="b", gone_since="2026-01-01T00:00Z")
    with pytest.raises(ConfigError, match="has a model a already"):
        custom_models.define(there.server_id, "a")
    assert custom_models.define(gone.server_id, "b") == gone.pk
    gone.refresh_from_db()
    assert gone.gone_since is None and gone.defined
    for absent in (
        lambda: custom_models.define(987_654, "a"),
        lambda: custom_models.write(987_654, ModelDescription()),
    ):
        with pytest.raises(NotFound):
            absent()


def test_what_a_person_wrote_stays_and_taken_back_the_server_speaks_again() -> None:  # M2 M5
    made: ModelProfile = ModelProfileFactory(name="strange:1b", parameter_count=10**9)
    custom_models.write(made.pk, ModelDescription(True, "ours", "qwen3", 70 * 10**9, "F16"))
    made = listed(made, "strange:1b")
    assert (made.description, made.family, picker.size_text(made)) == ("ours", "qwen3", "70B · F16")
    assert effective_values.known(made)["tools"].value is True
    custom_models.write(made.pk, ModelDescription(enabled=False))
    made = listed(made, "strange:1b")
    assert (made.description, made.family, picker.size_text(made), made.by_hand) == ("", "", "1B · Q4_K_M", {})
    assert effective_values.known(made)["tools"].value is None
    with pytest.raises(NotFound):
        picker.find("strange:1b")


def test_a_model_may_be_given_to_a_family_of_the_team() -> None:  # M5
    Family.objects.create(name="house", patterns=["house-model"], tools=False)
    made = ModelProfileFactory(name="qwen3:8b")
    custom_models.write(made.pk, ModelDescription(family="house"))
    made.refresh_from_db()
    assert made.family == "house" and effective_values.known(made)["tools"].value is False
    assert {"house", "qwen3"} <= set(custom_models.family_names())

"""A context is raised for everybody, reverted if it does not load, and stored for its build (F8, F9)."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.core.prompt.context_fitting import ContextWindow
from toolsupport.core.types import ChatSettings
from toolsupport.models import ModelProfile
from toolsupport.registry.models.request_context import request_spec
from toolsupport.registry.settings import context_sizes, model_settings
from toolsupport.registry.settings.model_settings import ModelOptions

pytestmark = pytest.mark.django_db


def again(profile: ModelProfile) -> ModelProfile:
    return ModelProfile.objects.select_related("server").get(pk=profile.pk)


def test_a_raised_context_stays_one_number_for_all() -> None:  # F8
    profile = ModelProfileFactory(context_length=40_960)
    seen = context_sizes.window(profile)
    assert seen == ContextWindow(8192, 40_960)
    assert context_sizes.raise_to(profile.pk, seen, 16_384) == ContextWindow(16_384, 40_960, before=8192)
    made = request_spec(profile.pk, (), ChatSettings())
    assert made.request_spec.options["num_ctx"] == made.window.given == 16_384
    assert context_sizes.raise_to(profile.pk, seen, 32_768).given == 16_384, "somebody else had raised it meanwhile"


def test_what_does_not_load_is_taken_back_and_not_tried_again_with_this_build() -> None:
    profile = ModelProfileFactory(context_length=40_960)
    raised = context_sizes.raise_to(profile.pk, context_sizes.window(profile), 32_768)
    back = context_sizes.take_back(profile.pk, raised)
    assert back == context_sizes.window(again(profile)) == ContextWindow(8192, 40_960, failed=32_768)
    assert list(back.larger) == [16_384]
    assert context_sizes.take_back(profile.pk, back) is None, "nothing is left to take back"
    assert context_sizes.take_back(profile.pk, raised) == back, "another answer had found out meanwhile"
    ModelProfile.objects.filter(pk=profile.pk).update(digest="pulled anew")
    assert context_sizes.window(again(profile)).failed == 0


def test_what_somebody_chose_may_be_tried_again_and_taken_back() -> None:
    profile = ModelProfileFactory(context_length=40_960)
    raised = context_sizes.raise_to(profile.pk, context_sizes.window(profile), 16_384)
    context_sizes.take_back(profile.pk, raised)
    model_settings.save(profile.pk, ModelOptions(32_768))
    chosen = context_sizes.window(again(profile))
    assert chosen == ContextWindow(32_768, 40_960, before=8192)
    model_settings.save(profile.pk, ModelOptions(32_768, temperature=0.5))
    assert context_sizes.window(again(profile)) == chosen, "the same again changes nothing"
    assert context_sizes.take_back(profile.pk, chosen) == ContextWindow(8192, 40_960, failed=32_768)


def test_a_team_may_keep_it_as_it_is() -> None:
    profile = ModelProfileFactory(context_length=40_960)
    model_settings.save(profile.pk, ModelOptions(8192, grows=False))
    assert not context_sizes.window(again(profile)).larger
    assert not context_sizes.window(ModelProfileFactory(context_length=None)).larger


@pytest.mark.parametrize(("length", "given"), [(131_072, 131_072), (None, 0)])
def test_where_a_request_cannot_say_it_the_context_is_what_the_server_has(length: int | None, given: int) -> None:
    profile = ModelProfileFactory(server=ServerFactory(kind="vllm"), context_length=length)
    made = request_spec(profile.pk, (), ChatSettings())
    assert made.window == ContextWindow(given) and made.request_spec.options.get("num_ctx", 0) == given

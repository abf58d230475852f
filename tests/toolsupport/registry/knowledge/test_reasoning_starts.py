"""The finding from a reply counts most, then the template, then the family."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import reasoning_starts

pytestmark = pytest.mark.django_db


def stored(profile: ModelProfile) -> ModelProfile:
    return ModelProfile.objects.select_related("server").get(pk=profile.pk)


@pytest.mark.parametrize(("name", "family"), [("qwq:32b", True), ("qwen3:8b", None), ("nobody-has-it", None)])
def test_the_family_is_the_last_to_be_asked(name: str, family: bool | None) -> None:
    profile: ModelProfile = ModelProfileFactory(name=name)
    assert reasoning_starts.known(profile) is family
    for seen in (False, True):
        reasoning_starts.learn(profile.pk, profile.build.key, seen)
        assert reasoning_starts.known(stored(profile)) is seen
    reasoning_starts.learn(profile.pk, "another build", False)
    assert reasoning_starts.known(stored(profile)) is family


def test_a_template_counts_for_more_than_the_family_and_for_less_than_a_reply() -> None:
    profile: ModelProfile = ModelProfileFactory(name="qwq:32b")
    reasoning_starts.hint(profile, False)
    assert reasoning_starts.known(profile) is False
    reasoning_starts.hint(profile, True)
    assert reasoning_starts.known(profile) is False
    reasoning_starts.hint(profile, None)
    assert reasoning_starts.known(profile) is False

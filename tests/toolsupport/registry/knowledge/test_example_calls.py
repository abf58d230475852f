"""One successful call per build and tool is stored, without personal data (F12)."""

from __future__ import annotations

import pytest

from tests.factories import ModelProfileFactory
from toolsupport.core.types import ChatSettings, ToolSpec
from toolsupport.models import ProvenCall
from toolsupport.registry.knowledge import example_calls, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models.request_context import for_profile, offer

pytestmark = pytest.mark.django_db
SPEC = ToolSpec(
    "send",
    "",
    {
        "type": "object",
        "properties": {
            "to": {"type": "array", "items": {"type": "string"}},
            "text": {"type": "string"},
            "urgent": {"type": "boolean"},
            "how": {"enum": ["mail", "chat"]},
            "times": {"type": "integer", "minimum": 2},
            "extra": {"type": "object", "properties": {"note": {"type": "string"}}},
            "any": True,
        },
        "required": ["text"],
    },
)
CANARY = {
    "to": ["canary@x", "canary@y"],
    "text": "canary",
    "urgent": True,
    "how": "mail",
    "times": 4711,
    "extra": {"note": "canary", "canary": 1},
    "any": None,
    "canary": 1,
}


def test_only_the_form_is_kept() -> None:
    example_calls.keep("b", SPEC, CANARY)
    [call] = example_calls.examples("b", [ToolSpec("other"), SPEC])
    assert call.arguments == {
        "to": ["<to>"],
        "text": "<text>",
        "urgent": True,
        "how": "mail",
        "times": 2,
        "extra": {"note": "<note>"},
        "any": None,
    }
    row = ProvenCall.objects.get()
    assert "canary" not in repr(row.arguments) and "4711" not in repr(row.arguments)


def test_the_newest_takes_the_place_of_the_one_before() -> None:
    example_calls.keep("b", SPEC, {"text": "one", "urgent": True})
    example_calls.keep("b", SPEC, {"text": "two"})
    example_calls.keep("c", SPEC, {"text": "three", "urgent": False})
    assert [call.arguments for call in example_calls.examples("b", [SPEC])] == [{"text": "<text>"}]


def test_a_form_that_does_not_fit_is_neither_kept_nor_shown() -> None:
    strict = ToolSpec("send", "", {"type": "object", "properties": {"text": {"type": "string", "maxLength": 3}}})
    example_calls.keep("b", strict, {"text": "abc"})
    assert not ProvenCall.objects.exists()
    example_calls.keep("b", SPEC, {"text": "abc"})
    assert example_calls.examples("b", [strict]) == ()


def test_a_brief_for_a_text_format_carries_the_example() -> None:
    profile = ModelProfileFactory()
    example_calls.keep(profile.build.key, SPEC, {"text": "abc"})
    overrides.add(NewOverride(profile.pk, "tools", True))
    assert for_profile(profile, offer([SPEC]), ChatSettings()).request_spec.examples == ()
    overrides.add(NewOverride(profile.pk, "tools", False, newest=overrides.newest_seq(profile.pk, "tools")))
    overrides.add(NewOverride(profile.pk, "format", "hermes"))
    made = for_profile(profile, offer([SPEC]), ChatSettings()).request_spec
    assert made.format == "hermes" and [call.name for call in made.examples] == ["send"]


def test_an_example_is_there_for_the_format_that_a_native_one_falls_back_to() -> None:
    profile = ModelProfileFactory()
    example_calls.keep(profile.build.key, SPEC, {"text": "abc"})
    overrides.add(NewOverride(profile.pk, "tools", True))
    overrides.add(NewOverride(profile.pk, "format", "hermes"))
    made = for_profile(profile, offer([SPEC]), ChatSettings()).request_spec
    assert (made.format, made.fallbacks) == ("native", ("hermes",))
    assert [call.name for call in made.examples] == ["send"]

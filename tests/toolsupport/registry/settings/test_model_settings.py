"""Options of a model are kept as set, and read back only where they make sense (F8)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import ModelProfileFactory, ServerFactory
from tests.tables import every
from toolsupport.core.types import ChatSettings, ToolSpec
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models.request_context import for_profile, offer
from toolsupport.registry.settings import model_settings
from toolsupport.registry.settings.model_settings import ModelOptions

EVERYTHING = ModelOptions(4096, 0.5, "10m", "high", "required", False, "minimal", True, 20.0, 5.0)
TOOLS = (ToolSpec("read_file"),)


@pytest.mark.django_db
def test_what_was_set_is_read_back() -> None:
    profile = ModelProfileFactory(options={"fallbacks": ["x"], "timeouts": {"connect": 1}})
    model_settings.save(profile.pk, EVERYTHING)
    profile.refresh_from_db()
    assert model_settings.of(profile) == EVERYTHING
    assert profile.options["fallbacks"] == ["x"] and profile.options["timeouts"]["connect"] == 1
    model_settings.save(profile.pk, ModelOptions(8192))
    profile.refresh_from_db()
    assert profile.options == {"fallbacks": ["x"], "timeouts": {"connect": 1}}


@every(
    "stored",
    [
        {"temperature": "hot"},
        {"temperature": 7},
        {"temperature": True},
        {"keep_alive": "soon"},
        {"keep_alive": 5},
        {"think": "deeply"},
        {"think": []},
        {"tool_choice": "banana"},
        {"tool_choice": {}},
        {"parallel_tool_calls": 1},
        {"turn_context": []},
        {"turn_context": "maximal"},
        {"strong_nudge": "yes"},
        {"timeouts": 5},
        {"timeouts": {"first_token": "x", "between": -1}},
    ],
)
def test_what_makes_no_sense_is_as_if_it_were_not_set(stored: dict[str, Any]) -> None:
    assert model_settings.of(ModelProfile(options=stored)) == ModelOptions(8192)


@pytest.mark.django_db
def test_a_brief_carries_the_options() -> None:
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    model_settings.save(profile.pk, EVERYTHING)
    profile.refresh_from_db()
    made = for_profile(profile, offer(TOOLS), ChatSettings())
    wanted = {"num_ctx": 4096, "temperature": 0.5, "tool_choice": "required", "parallel_tool_calls": False}
    assert made.request_spec.options == wanted
    assert (made.request_spec.think, made.request_spec.keep_alive) == ("high", "10m")
    assert (made.request_spec.turn_context, made.request_spec.strong_nudge) == ("minimal", True)
    assert (made.endpoint.limits.first_token, made.endpoint.limits.between) == (20.0, 5.0)


@pytest.mark.django_db
def test_a_model_that_is_to_call_nothing_gets_no_tools() -> None:  # F6
    profile = ModelProfileFactory(options={"tool_choice": "none"})
    overrides.add(NewOverride(profile.pk, "tools", True))
    made = for_profile(profile, offer(TOOLS), ChatSettings()).request_spec
    assert (made.tools, [left_out.rule for left_out in made.excluded]) == ((), ["tool_choice"])
    assert "rule out tool calls" in made.format_reason


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "stored", "pushed"), [("ollama", {}, True), ("vllm", {}, False),
    ("ollama", {"strong_nudge": False}, False), ("vllm", {"strong_nudge": True}, True)])  # fmt: skip
def test_models_of_ollama_are_pushed_to_their_tools(kind: str, stored: dict[str, Any], pushed: bool) -> None:  # F8
    profile = ModelProfileFactory(server=ServerFactory(kind=kind), options=stored)
    assert for_profile(profile, offer(TOOLS), ChatSettings()).request_spec.strong_nudge is pushed

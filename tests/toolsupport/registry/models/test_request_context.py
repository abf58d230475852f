"""Tools never reach a model without support, for any earlier claims (first of three layers)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests.examples import at_least
from tests.factories import ModelProfileFactory
from toolsupport.core.errors import NotFound
from toolsupport.core.prompt.sampling import options
from toolsupport.core.tool_selection import Candidate
from toolsupport.core.types import ChatSettings, ToolSpec
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import profile_cache, request_context
from toolsupport.registry.models.request_context import RequestContext, ToolOffer, for_profile, request_spec
from toolsupport.registry.servers import servers
from toolsupport.registry.settings import team_settings
from toolsupport.registry.settings.context_sizes import num_ctx

SOURCES = ["user_confirmed", "auto_detected", "declared"]
TOOLS = (ToolSpec("read_file"), ToolSpec("list_directory"))


@pytest.mark.django_db
def test_a_model_known_to_call_gets_the_tools():
    server = servers.add(servers.NewServer("Box", "ollama", "http://box:1", "sk-canary"))
    profile = ModelProfileFactory(server_id=server, name="a", options={"keep_alive": "10m", "think": False})
    overrides.add(NewOverride(profile.pk, "tools", True))
    made = request_spec(profile.pk, TOOLS, ChatSettings())
    assert (made.request_spec.model, made.request_spec.tools, made.request_spec.format) == ("a", TOOLS, "native")
    assert (made.request_spec.keep_alive, made.request_spec.think) == ("10m", False)
    assert (made.endpoint.base_url, made.endpoint.api_key) == ("http://box:1", "sk-canary")
    assert "canary" not in repr(made)


# What was found about thinking, what a person set → what a turn with tools asks for.
THINKING = [
    ("off_only", {}, False),
    ("on_only", {}, True),
    ("both", {}, None),
    (None, {}, None),
    ("off_only", {"think": True}, True),
    ("on_only", {"think": "low"}, "low"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("found", "options", "think"), THINKING)
def test_a_turn_with_tools_thinks_as_calls_were_found(found: str | None, options: dict[str, Any], think: Any):  # D6
    profile = ModelProfileFactory(options=options)
    overrides.add(NewOverride(profile.pk, "tools", True))
    if found:
        overrides.measure(NewOverride(profile.pk, "tools_thinking", found, "auto_detected"))
    assert request_spec(profile.pk, TOOLS, ChatSettings()).request_spec.think == think
    assert request_spec(profile.pk, TOOLS, ChatSettings(tools_on=False)).request_spec.think == options.get("think")


@pytest.mark.django_db
@pytest.mark.parametrize("value", [False, None])
def test_without_known_support_no_tools_and_a_reason(value: bool | None):  # F6
    profile = ModelProfileFactory()
    if value is not None:
        overrides.add(NewOverride(profile.pk, "tools", value))
    made = request_spec(profile.pk, TOOLS, ChatSettings()).request_spec
    assert (made.tools, made.format) == ((), "")
    assert made.format_reason
    assert [exclusion.tool for exclusion in made.excluded] == ["read_file", "list_directory"]


@pytest.mark.django_db
def test_the_conversations_word_comes_first():
    profile = ModelProfileFactory(options={"temperature": 0.9})
    overrides.add(NewOverride(profile.pk, "tools", True))
    overrides.add(NewOverride(profile.pk, "tools", False, "runtime_error", session="chat-1"))
    assert request_spec(profile.pk, TOOLS, ChatSettings(), "chat-1").request_spec.tools == ()
    assert request_spec(profile.pk, TOOLS, ChatSettings(), "chat-2").request_spec.tools == TOOLS
    assert request_spec(profile.pk, TOOLS, ChatSettings(tools_on=False)).request_spec.tools == ()
    assert request_spec(profile.pk, TOOLS, ChatSettings(temperature=0.0)).request_spec.options["temperature"] == 0.0
    assert request_spec(profile.pk, TOOLS, ChatSettings()).request_spec.options["temperature"] == 0.9


@pytest.mark.django_db
def test_the_base_prompt_is_the_teams_unless_the_conversation_has_its_own():  # C9
    profile = ModelProfileFactory()
    team_settings.put("base_system_prompt", "Be brief.")
    assert request_spec(profile.pk, (), ChatSettings()).request_spec.system == "Be brief."
    assert request_spec(profile.pk, (), ChatSettings(system="Rhyme.")).request_spec.system == "Rhyme."


@pytest.mark.django_db
def test_the_modelfile_is_the_base_where_neither_chat_nor_team_set_a_prompt():  # F8
    profile = ModelProfileFactory(modelfile={"system": "You are Ada."})
    assert request_spec(profile.pk, (), ChatSettings()).request_spec.system == "You are Ada."
    assert request_spec(profile.pk, (), ChatSettings(system="You are Bob.")).request_spec.system == "You are Bob."
    team_settings.put("base_system_prompt", "You work for us.")
    assert request_spec(profile.pk, (), ChatSettings()).request_spec.system == "You work for us."


@pytest.mark.django_db
def test_the_temperature_of_the_modelfile_holds_without_tools_only():  # F8
    profile = ModelProfileFactory(modelfile={"temperature": 0.9})
    overrides.add(NewOverride(profile.pk, "tools", True))
    assert "temperature" not in options(request_spec(profile.pk, (), ChatSettings()).request_spec)
    assert options(request_spec(profile.pk, TOOLS, ChatSettings()).request_spec)["temperature"] == 0.3
    assert options(request_spec(profile.pk, TOOLS, ChatSettings(temperature=1.0)).request_spec)["temperature"] == 1.0


@pytest.mark.django_db
def test_what_the_team_leaves_out_of_its_own_tools_is_not_left_out_of_a_programs():  # G1
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    team_settings.put("left_out", {"tools": ["read_file"], "servers": []})
    assert request_spec(profile.pk, TOOLS, ChatSettings()).request_spec.tools == TOOLS


@pytest.mark.django_db
def test_the_context_is_one_number_with_and_without_tools():  # F8
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    with_tools = request_spec(profile.pk, TOOLS, ChatSettings()).request_spec.options
    without = request_spec(profile.pk, (), ChatSettings(tools_on=False)).request_spec.options
    assert with_tools == without == {"num_ctx": 8192}


@pytest.mark.parametrize(("wanted", "trained", "asked"), [(8192, None, 8192), (8192, 2048, 2048), (8192, 131072, 8192)])
def test_never_more_context_than_was_trained(wanted: int, trained: int | None, asked: int):
    assert num_ctx(ModelProfile(default_context=wanted, context_length=trained)) == asked


@pytest.mark.django_db
def test_an_absent_model_is_not_found():
    with pytest.raises(NotFound):
        request_spec(10**6, (), ChatSettings())


@pytest.mark.django_db
def test_a_brief_of_a_model_that_was_asked_before_takes_three_small_queries():
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    request_spec(profile.pk, TOOLS, ChatSettings())
    with CaptureQueriesContext(connection) as queries:
        request_spec(profile.pk, TOOLS, ChatSettings())
    read = [query["sql"] for query in queries if query["sql"].startswith("SELECT")]
    assert len(read) <= 4


class ToolsNeedSupport(TestCase):
    """Tools never reach a model without support, whatever was said before (first of three layers)."""

    @settings(max_examples=at_least(15), deadline=None)
    @given(
        st.lists(st.tuples(st.sampled_from(SOURCES), st.booleans()), max_size=5),
        st.sampled_from([True, False, None]),
    )
    def test_no_support_no_tools(self, said: list[tuple[str, bool]], wish: bool | None) -> None:
        profile = ModelProfileFactory()
        for source, value in said:
            overrides.add(NewOverride(profile.pk, "tools", value, source))
        made = request_spec(profile.pk, TOOLS, ChatSettings(tools_on=wish)).request_spec
        supported = made.capabilities["tools"].value is True
        self.assertEqual(bool(made.tools), supported and wish is not False)
        self.assertEqual(made.format == "native", bool(made.tools))


CHANGES: list[Callable[[ModelProfile], object]] = [
    lambda profile: overrides.add(NewOverride(profile.pk, "tools", True)),
    lambda profile: overrides.add(NewOverride(profile.pk, "tools", False)),
    lambda profile: overrides.add(NewOverride(profile.pk, "streaming", False)),
    lambda profile: ModelProfile.objects.filter(pk=profile.pk).update(options={"temperature": 0.5}),
    lambda profile: ModelProfile.objects.filter(pk=profile.pk).update(options={"tool_choice": "none"}),
    lambda profile: ModelProfile.objects.filter(pk=profile.pk).update(default_context=4096),
    lambda profile: team_settings.put("base_system_prompt", "Be brief."),
    lambda profile: team_settings.put("text_formats", "all"),
    lambda profile: team_settings.put("left_out", {"tools": ["read_file"]}),
    lambda profile: team_settings.put("disabled_formats", ["native"]),
]
CHATS = [ChatSettings(), ChatSettings(tools_on=False), ChatSettings(system="Here."), ChatSettings(temperature=1.0)]


class KeptRequestsAreRight(TestCase):
    """What is kept of the last request gives the same as reading everything again, whatever changed in between."""

    @settings(max_examples=at_least(15), deadline=None)
    @given(
        st.lists(
            st.tuples(st.none() | st.sampled_from(CHANGES), st.sampled_from(CHATS), st.booleans(), st.booleans()),
            max_size=8,
        )
    )
    def test_it_is_as_if_nothing_was_kept(
        self, steps: list[tuple[Callable[[ModelProfile], object] | None, ChatSettings, bool, bool]]
    ) -> None:
        made = ModelProfileFactory()
        for change, chat, both, ours in steps:
            if change is not None:
                change(made)
            candidates = tuple(map(Candidate, TOOLS if both else TOOLS[:1]))

            offered = ToolOffer(candidates, team_settings.everything(), ours=ours)

            def found(chat: ChatSettings = chat, offered: ToolOffer = offered) -> RequestContext:
                profile = profile_cache.profile(made.pk)
                assert profile is not None
                return for_profile(profile, offered, chat)

            kept = found()
            request_context._drafts.clear()
            request_context._drafts_of_programs.clear()
            self.assertEqual(kept, found())


@pytest.mark.django_db
@pytest.mark.parametrize("ours", [True, False])
def test_tools_that_did_not_change_are_chosen_once(monkeypatch: pytest.MonkeyPatch, ours: bool) -> None:
    profile = profile_cache.profile(ModelProfileFactory().pk)
    assert profile is not None
    offered = ToolOffer((Candidate(TOOLS[0]),), team_settings.everything(), ours=ours)
    for_profile(profile, offered, ChatSettings())
    monkeypatch.delattr(request_context, "choose")
    for_profile(profile, offered, ChatSettings())


@pytest.mark.django_db
def test_tools_of_programs_that_are_only_equal_are_not_the_same() -> None:
    """Python holds 1, 1.0 and true for equal; in a schema they are not."""
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    for value in (1, True, 1.0, 1):
        tool = ToolSpec("add", parameters={"type": "object", "properties": {"by": {"default": value}}, "required": []})
        made = request_spec(profile.pk, (tool,), ChatSettings()).request_spec
        assert type(made.tools[0].parameters["properties"]["by"]["default"]) is type(value)

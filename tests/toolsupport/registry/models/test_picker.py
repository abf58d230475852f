"""The models a person can choose from."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.core.errors import NotFound
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import picker
from toolsupport.registry.settings import team_settings

pytestmark = pytest.mark.django_db


def _model(name: str, **facts: Any) -> ModelProfile:
    profile = ModelProfileFactory(name=name, **facts)
    return profile


def _simulated(name: str = "sim-honest:latest") -> ModelProfile:
    return _model(name, server=ServerFactory(name="Simulator", kind="simulator"))


def test_tool_support_is_visible_before_choosing():  # M7
    tested, off, declared = _model("a"), _model("b"), _model("c")
    _model("d")
    overrides.add(NewOverride(tested.pk, "tools", True, "auto_detected"))
    overrides.add(NewOverride(off.pk, "tools", False))
    overrides.declare(declared.pk, {"tools": True, "vision": True})
    shown = {choice.name: choice for choice in picker.choices()}
    assert [(shown[name].evidence.state, shown[name].evidence.word, shown[name].source) for name in "abcd"] == [
        ("proven", "Proven", "test"),
        ("off", "Off", "person"),
        ("claimed", "Claimed", "server"),
        ("none", "Not measured", "built-in default"),
    ]
    assert (shown["b"].tools_word, shown["b"].source) == ("Disabled", "person")
    assert shown["c"].vision is True
    assert shown["d"].reason


def test_a_test_is_offered_where_tools_are_off_by_claim_alone():
    claimed, decided, measured, calls = (_model(name) for name in "abcd")
    _model("e")
    overrides.declare(claimed.pk, {"tools": False})
    overrides.add(NewOverride(decided.pk, "tools", False))
    overrides.add(NewOverride(measured.pk, "tools", False, "auto_detected"))
    overrides.declare(calls.pk, {"tools": True})
    shown = picker.choices()
    assert {choice.name for choice in shown if choice.worth_testing} == {"a", "e"}
    assert {choice.name for choice in shown if choice.evidence.works} == set()


def test_usable_ones_come_first_and_others_say_why_not():
    down = ServerFactory(name="down", reachable=False, last_error="It refused the connection.")
    _model("a", server=down)
    _model("b", gone_since="2026-01-01T00:00Z")
    _model("z")
    choices = picker.choices()
    assert [choice.name for choice in choices] == ["z", "a", "b"]
    assert "It refused the connection." in choices[1].why_not
    assert "ollama serve" in choices[1].why_not
    assert "Pull it again" in choices[2].why_not
    assert choices[2].gone is True


def test_what_is_switched_off_is_not_offered():
    _model("a", enabled=False)
    _model("b", server=ServerFactory(enabled=False))
    assert picker.choices() == ()


@pytest.mark.parametrize(
    ("mode", "alone", "beside"),
    [
        ("auto", {"sim-honest:latest"}, {"real"}),
        ("on", {"sim-honest:latest"}, {"sim-honest:latest", "real"}),
        ("off", set(), {"real"}),
    ],
)
def test_simulated_models_stand_aside(settings: Settings, mode: str, alone: set[str], beside: set[str]):  # M8
    settings.ENV = settings.ENV | {"TOOLSUPPORT_SIMULATOR": mode}
    simulated = _simulated()
    assert {choice.name for choice in picker.choices()} == alone
    _model("real")
    assert {choice.name for choice in picker.choices()} == beside
    why = {"auto": "one of your own servers answers", "off": "the Simulator is switched off"}.get(mode)
    assert picker.hidden_note() == (f"1 simulated model is hidden: {why}." if why else "")
    chosen = picker.shown(simulated.pk)
    assert chosen is not None
    assert chosen.simulated is True


def test_a_simulated_model_says_what_it_does_others_nothing():  # M8
    simulated = _simulated()
    rows = (simulated, _model("sim-gone:latest", server=simulated.server), _model("sim-honest:latest"))
    found = [choice.about for choice in (picker.shown(row.pk) for row in rows) if choice]
    assert found == ["calls the tools it is offered, as asked.", "", ""]


def test_a_model_is_shown_as_it_stands_in_a_conversation():
    profile = _model("a")
    overrides.add(NewOverride(profile.pk, "tools", True))
    overrides.add(NewOverride(profile.pk, "tools", False, "runtime_error", session="chat-1"))
    here, elsewhere = picker.shown(profile.pk, "chat-1"), picker.shown(profile.pk, "chat-2")
    assert here is not None
    assert elsewhere is not None
    assert (here.evidence.state, here.source, elsewhere.evidence.state) == ("off", "this chat", "set")
    assert picker.shown(None) is None
    assert picker.shown(10**6) is None


def test_a_model_is_found_by_id_by_server_and_name_by_unique_name():
    one = _model("qwen3:8b", server=ServerFactory(name="one"))
    _model("qwen3:8b", server=ServerFactory(name="two"))
    alone = _model("hf.co/some/alone:latest", server=one.server)
    assert picker.find(str(one.pk)) == one.pk
    assert picker.find("one/qwen3:8b") == one.pk
    assert picker.find(" hf.co/some/alone ") == alone.pk
    assert picker.find("one/hf.co/some/alone:latest") == alone.pk
    with pytest.raises(NotFound, match="server/name"):
        picker.find("qwen3:8b")
    for wanted in ("", "0", "9" * 40, "one/none", "²"):
        with pytest.raises(NotFound):
            picker.find(wanted)


def test_a_new_conversation_starts_with_the_last_the_teams_the_first_tested_the_simulated():  # C9
    assert picker.first_choice() is None
    simulated = _simulated()
    assert picker.first_choice() == simulated.pk
    unknown, tested, last = _model("a"), _model("b"), _model("c")
    overrides.add(NewOverride(tested.pk, "tools", True))
    assert picker.first_choice() == tested.pk
    team_settings.put("default_model", unknown.pk)
    assert picker.first_choice() == unknown.pk
    assert picker.first_choice(last.pk) == last.pk
    ModelProfile.objects.filter(pk=last.pk).update(gone_since="2026-01-01T00:00Z")
    assert picker.first_choice(last.pk) == unknown.pk


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, ""),
        ({"size_bytes": 4_900_000_000}, "4.9 GB"),
        ({"size_bytes": 45_900_000}, "46 MB"),
        ({"size_bytes": 700}, ""),
        ({"parameter_count": 8_190_000_000, "quantization": "Q4_K_M", "size_bytes": 5}, "8.19B · Q4_K_M"),
        ({"parameter_count": 494_000_000}, "494M"),
        ({"parameter_count": 671_000_000_000}, "671B"),
        ({"parameter_count": 900}, "900"),
    ],
)
def test_size_in_few_letters(facts: dict[str, Any], text: str):
    assert picker.size_text(ModelProfileFactory(**facts)) == text


def test_three_hundred_models_take_few_queries(django_assert_max_num_queries: DjangoAssertNumQueries):
    server = ServerFactory()
    ModelProfileFactory.create_batch(300, server=server)
    with django_assert_max_num_queries(8):
        assert len(picker.choices()) == 300


def test_names_are_found_in_any_case_and_as_they_are_written_first():  # G7
    box = ServerFactory(name="Box")
    upper, lower = _model("Qwen3:8B", server=box), _model("qwen3:8b", server=ServerFactory(name="other"))
    honest = _model("Org/Honest:latest", server=box)
    for wanted, found in {
        "box/QWEN3:8b": upper,
        "Qwen3:8B": upper,
        "qwen3:8b": lower,
        "org/honest": honest,
        "BOX/org/HONEST:LATEST": honest,
    }.items():
        assert picker.find(wanted) == found.pk, wanted
    with pytest.raises(NotFound, match="Several servers"):
        picker.find("QWEN3:8B")
    for wanted in ("QWEN3", "b_x/Qwen3:8B", "box/%"):
        with pytest.raises(NotFound, match="no model"):
            picker.find(wanted)

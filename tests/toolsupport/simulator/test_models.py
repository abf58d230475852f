"""The table of models."""

from __future__ import annotations

import re

import pytest

from toolsupport.simulator.loaded_models import ModelMemory
from toolsupport.simulator.models import MODELS, NO_TOOLS, find, is_name, render
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool, SimulatedCall

NATIVE = (
    "honest thinks refuses ignores slow-load dies long unknown shell hallucinates loops flaky speaks parallel-less"
    " drifts truncates misconfigured halves fickle silent thinks-long thinks-endless thinks-off claims sees"
)
TEXT = (
    "hermes mistral mistral-args pythonic llama4 lfm2 olmo3 json llama3-json qwen3-coder-xml code broken-json"
    " python hopeless-json thinks-aloud thinks-inside"
)

HELD = "constrained noise constrained-thinks unconstrained no-schemas fails-open"


def test_every_quirk_has_its_row() -> None:  # M8
    assert list(MODELS) == [f"sim-{quirk}" for quirk in f"{NATIVE} {TEXT} {HELD} embed".split()]


def test_what_writes_text_says_no_tools_and_refuses_them() -> None:  # M8
    written = [model for model in MODELS.values() if {*(model.capabilities or "-")} <= {"completion", "thinking"}]
    assert [model.name.removeprefix("sim-") for model in written] == [*TEXT.split(), *HELD.split()]
    assert {model.refusal for model in written} == {NO_TOOLS}


def test_a_model_that_drifts_becomes_another_build_others_stay() -> None:
    state = SimulatorState(ModelMemory(0), 0)
    before = {name: state.build(model).digest for name, model in MODELS.items()}
    for model in MODELS.values():
        state.drift(model)
    changed = [name for name, model in MODELS.items() if state.build(model).digest != before[name]]
    assert changed == ["sim-drifts"]
    assert state.build(MODELS["sim-drifts"]).modified > MODELS["sim-drifts"].modified


def test_every_model_says_that_it_is_simulated() -> None:  # M8
    assert all(model.about.startswith("Simulated: ") for model in MODELS.values())


def test_digests_are_each_models_own() -> None:
    digests = {model.digest for model in MODELS.values()}
    assert len(digests) == len(MODELS)
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in digests)


def test_a_template_mentions_tools_where_the_server_says_so() -> None:
    for model in MODELS.values():
        assert (".Tools" in model.template) == ("tools" in (model.capabilities or ())), model.name


@pytest.mark.parametrize(
    "name",
    ["sim-honest", "sim-honest:latest", "SIM-Honest", "library/sim-honest", "registry.ollama.ai/library/sim-honest"],
)
def test_finds_a_model_under_all_its_names(name: str) -> None:
    assert find(name) is MODELS["sim-honest"]


@pytest.mark.parametrize("name", ["sim", "sim-honest:7b", "sim-honest-2", "hf.co/sim-honest"])
def test_finds_no_other(name: str) -> None:
    assert find(name) is None


@pytest.mark.parametrize(("name", "valid"), [("", False), ("a b", False), ("a", True), ("h:1/n/m:t", True)])
def test_knows_what_can_be_a_name(name: str, valid: bool) -> None:
    assert is_name(name) is valid


def test_the_prompt_shows_everything_the_model_reads() -> None:
    said = (
        HistoryMessage("user", "hi"),
        HistoryMessage("assistant", calls=(SimulatedCall("f", {"a": 1}),)),
        HistoryMessage("tool", "out", name="f"),
    )
    text = render(ModelInput(said, (OfferedTool("f", "does it", {"type": "object"}),), think=True))
    assert [part in text for part in ("hi", '"f"', "does it", '{"a": 1}', "out", "<think>")] == [True] * 6

"""The family table is consistent, and no spelling of a name changes the family it belongs to."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.processor_time import must_cost_at_most
from tests.tables import every
from toolsupport.core.families import FAMILIES, VERSION, FamilyProfile, begins_inside, find
from toolsupport.core.families.name_words import ANY_SIZE, pattern_words
from toolsupport.core.families.table import CALL_FORMATS, MULTI_TURN, PROMPT_STYLES
from toolsupport.simulator.models import TEXT

PATTERNS = [(family.name, pattern) for family in FAMILIES for pattern in family.patterns]
NAMES = sorted(pattern.replace(ANY_SIZE, "8b") for _, pattern in PATTERNS)
OLLAMA_NAMES = [name for name in NAMES if ":" not in name]
# After a size, or in a tag, anyone may add a word of their own.
PLAIN_NAMES = sorted(pattern for _, pattern in PATTERNS if ":" not in pattern and ANY_SIZE not in pattern)

quantisations = st.sampled_from(
    ["-q4_K_M", "-q8_0", "-Q5_K_S", "-IQ4_XS", "-fp16", "-bf16", "-GGUF", "-AWQ", "-GPTQ-Int4", "-fp8", "-4bit"]
)
owners = st.sampled_from(
    ["library/", "hf.co/somebody/", "registry.ollama.ai/library/", "localhost:5000/library/", "svjack/", "openrouter/"]
)


def family_of(model_id: str) -> str | None:
    found = find(model_id)
    return found.name if found else None


def by_name(name: str) -> FamilyProfile:
    return next(family for family in FAMILIES if family.name == name)


def test_the_table_has_a_version_and_at_least_the_families_it_began_with() -> None:  # M4
    assert VERSION >= 1
    assert len(FAMILIES) >= 74


def test_no_two_families_share_a_name() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


def test_no_two_patterns_are_the_same_words() -> None:
    spelled = Counter(pattern_words(pattern) for _, pattern in PATTERNS)
    assert [words for words, times in spelled.items() if times > 1] == []


@every("family, pattern", PATTERNS)
def test_every_pattern_is_reached(family: str, pattern: str) -> None:
    assert family_of(pattern.replace(ANY_SIZE, "8b")) == family


@every("family", FAMILIES)
def test_a_row_speaks_the_words_of_the_table(family: FamilyProfile) -> None:
    formats = {family.call_format, *family.alternatives} - {None}
    assert formats <= CALL_FORMATS
    assert family.prompt_style in {None, *PROMPT_STYLES}
    assert family.multi_turn in {None, *MULTI_TURN}
    assert family.sources and all(family.sources)


@pytest.mark.parametrize("field", ["tools", "parallel", "streaming_calls", "thinking", "vision"])
def test_yes_no_and_unknown_are_the_only_answers(field: str) -> None:  # D1
    assert {getattr(family, field) for family in FAMILIES} <= {True, False, None}


@pytest.mark.parametrize("field", ["max_tools", "context"])
def test_a_figure_is_positive_or_unknown(field: str) -> None:
    figures = [getattr(family, field) for family in FAMILIES]
    assert all(figure is None or figure > 0 for figure in figures)
    assert any(figures)


def test_every_word_of_the_closed_lists_is_used() -> None:
    used = {name for family in FAMILIES for name in (family.call_format, *family.alternatives)}
    assert used - {None} == CALL_FORMATS
    assert {family.prompt_style for family in FAMILIES} - {None} == PROMPT_STYLES


def test_a_family_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        FAMILIES[0].tools = None  # type: ignore[misc]


# Facts the rest of the house leans on.
@every(
    ("name", "tools"),
    [
        ("qwen3", True),
        ("gemma3", False),
        ("deepseek-r1", False),
        ("deepseek-r1-0528", True),
        ("llama3", False),
        ("mixtral", None),
        ("smollm2", None),
        ("codestral", None),
        ("codestral-latest", True),
        ("o1-preview/o1-mini", False),
        ("sim-honest", True),
        ("sim-refuses", False),
    ],
)
def test_what_the_table_says_of_tools(name: str, tools: bool | None) -> None:
    assert by_name(name).tools is tools


def test_qwen_coders_speak_different_languages() -> None:
    assert by_name("qwen2.5-coder").call_format == "hermes"
    assert by_name("qwen3-coder").call_format == "qwen3_coder_xml"


def test_the_simulator_is_named_as_the_source_of_its_own_rows() -> None:  # M8
    simulated = [family for family in FAMILIES if family.name.startswith("sim-")]
    assert {family.sources for family in simulated} == {("the built-in simulator",)}


# One writes code, the other stands for a model that no family knows.
WITHOUT_FORMAT = {"sim-code", "sim-python"}


def test_every_other_simulated_model_that_writes_text_has_its_format() -> None:  # F2
    formats = {model.name: by_name(model.name).call_format for model in TEXT if model.name not in WITHOUT_FORMAT}
    assert None not in formats.values()
    assert {"hermes", "mistral_json", "mistral_args", "pythonic", "pure_json", "llama3_json"} <= set(formats.values())


@given(st.sampled_from(NAMES), owners)
def test_an_owner_or_a_host_changes_nothing(name: str, owner: str) -> None:
    assert family_of(owner + name) == family_of(name)


@given(st.sampled_from(OLLAMA_NAMES))
def test_the_tag_latest_changes_nothing(name: str) -> None:
    assert family_of(f"{name}:latest") == family_of(name)


@given(st.sampled_from(NAMES), quantisations)
def test_a_quantisation_changes_nothing(name: str, quantisation: str) -> None:
    assert family_of(name + quantisation) == family_of(name)


@given(st.sampled_from(OLLAMA_NAMES), quantisations)
def test_a_quantisation_in_the_tag_changes_nothing(name: str, quantisation: str) -> None:
    assert family_of(f"{name}:8b{quantisation}") == family_of(name)


@given(st.sampled_from(NAMES), st.randoms())
def test_case_changes_nothing(name: str, random) -> None:
    mixed = "".join(random.choice((letter.lower(), letter.upper())) for letter in name)
    assert family_of(mixed) == family_of(name)


@given(st.sampled_from(OLLAMA_NAMES), st.sampled_from([".gguf", "-Q4_K_M.gguf", ".Q8_0.gguf", "-00001-of-00002.gguf"]))
@example("mistral", ".Q8_0.gguf")
def test_a_file_ending_changes_nothing(name: str, ending: str) -> None:
    assert family_of(f"/models/{name}{ending}") == family_of(name)


@given(st.sampled_from(PLAIN_NAMES), st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=8))
def test_letters_right_after_a_name_make_another_name(name: str, letters: str) -> None:
    glued = name + letters
    assert family_of(glued) is None or glued in NAMES


@given(st.sampled_from(NAMES), st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8))
def test_letters_right_before_a_name_make_another_name(name: str, letters: str) -> None:
    glued = letters + name
    assert family_of(glued) is None or glued in NAMES


@given(st.text(max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    found = find(text)
    assert found is None or found in FAMILIES


@given(st.sampled_from(OLLAMA_NAMES), st.sampled_from(["vision", "embedding", "guard", "coder", "base"]))
def test_another_kind_of_model_is_never_the_family(name: str, kind: str) -> None:
    assert family_of(f"{name}-8b-{kind}") in (None, "llama3.2-vision")


def test_a_repeated_question_is_answered_from_memory() -> None:
    find("qwen3:8b")
    before = find.cache_info().hits
    assert find("qwen3:8b") is find("qwen3:8b")
    assert find.cache_info().hits == before + 2


def test_a_very_long_name_is_no_trap() -> None:
    # What backtracks here takes minutes, not the milliseconds it should: the limit is far from both.
    with must_cost_at_most(30):
        for text in ("qwen3" * 20_000, "qwen3-" * 20_000, "-q4" + "_k" * 50_000, "1." * 50_000, "openai-" * 2_000):
            find(text)


INSIDE = (
    ("qwq:32b", True),
    ("Qwen/QwQ-32B-AWQ", True),
    ("Qwen/Qwen3-4B-Thinking-2507", True),
    ("Qwen3-30B-A3B-Thinking-2507-Q4_K_M.gguf", True),
    ("qwen3:4b-thinking", True),
    ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", True),
    ("bartowski/DeepSeek-R1-Distill-Llama-8B-GGUF", True),
    # Hybrids and their relatives: their templates open nothing, or it differs.
    ("qwen3:8b", None),
    ("Qwen/Qwen3-4B-Instruct-2507", None),
    ("deepseek-r1:8b", None),
    ("deepseek-ai/DeepSeek-R1-0528", None),
    ("llama3.1:8b", None),
)


@every(("model", "inside"), INSIDE)
def test_what_the_table_says_of_the_beginning_of_replies(model: str, inside: bool | None) -> None:
    family = find(model)
    assert family is not None and begins_inside(family, model) is inside


def test_a_model_that_begins_inside_reasoning_thinks() -> None:
    assert {family.thinking for family in FAMILIES if family.begins_inside} == {True}

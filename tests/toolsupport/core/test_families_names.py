"""Spellings of one name come to the same words."""

from __future__ import annotations

from tests.tables import every
from toolsupport.core.families import find
from toolsupport.core.families.name_words import is_size, pattern_words, same_model, words


@every(
    ("model_id", "expected"),
    [
        ("qwen3", "qwen 3"),
        ("Qwen-3", "qwen 3"),
        ("qwen3:latest", "qwen 3"),
        ("qwen3:8b", "qwen 3 : 8b"),
        ("hf.co/Qwen/Qwen3-8B-GGUF:Q4_K_M", "qwen 3 8b"),
        ("qwen2.5-7b-instruct@q4_k_m", "qwen 2.5 7b instruct"),
        ("granite-4.0-h-small", "granite 4 h small"),
        ("gemma3n", "gemma3n"),
        ("gemma-3n", "gemma 3n"),
        ("deepseek-r1", "deepseek r1"),
        ("command-r7b", "command r7b"),
        ("internlm2_5-7b", "internlm 2 5 7b"),
        ("mistral-7b-v0.2.Q4_K_M.gguf", "mistral 7b v0.2"),
        ("Qwen3-8B.i1-IQ4_XS.gguf", "qwen 3 8b"),
        ("gpt-4o-2024-08-06", "gpt 4o"),
        ("command-r-08-2024", "command r"),
        ("gemini-2.5-pro-preview-05-06", "gemini 2.5 pro preview"),
        ("meta-llama_Llama-3.3-70B", "llama 3.3 70b"),
        ("us.anthropic.claude-3-haiku-20240307-v1:0", "claude 3 haiku 20240307"),
        ("mistral.mistral-7b-instruct-v0:2", "mistral 7b instruct v0.2"),
        ("google.gemma-3-12b-it", "gemma 3 12b it"),
        ("databricks-meta-llama-3-3-70b-instruct", "llama 3 3 70b instruct"),
        ("Cohere-command-r-plus-08-2024", "command r plus"),
        ("zai-glm-4.7", "glm 4.7"),
        ("  QWEN3:8B  ", "qwen 3 : 8b"),
        ("some/folder/", "folder"),
        ("codestral-latest", "codestral latest"),
        ("", ""),
        (":::", ""),
    ],
)
def test_the_words_of_an_id(model_id: str, expected: str) -> None:
    assert " ".join(words(model_id)) == expected


def test_a_pattern_may_leave_the_size_open() -> None:
    assert pattern_words("llama3.2-{size}-vision") == ("llama", "3.2", "{size}", "vision")


@every(
    ("rest", "same"),
    [
        ("", True),
        ("8b", True),
        ("instruct", True),
        ("2507", True),
        ("0528", True),
        ("20250514", True),
        ("001", True),
        ("8b heretic", True),
        ("8b instruct my own words", True),
        (": 8b whatever", True),
        ("1b speech", False),
        ("1b toxicity classifier", False),
        ("coder", False),
        ("3.2", False),
        ("4", False),
        ("heresy", False),
        ("heresy 8b", False),
        ("distill llama 8b", False),
        ("8b vision", False),
        ("vision 8b", False),
        ("0528 qwen 3 8b", False),
    ],
)
def test_what_may_follow_a_family(rest: str, same: bool) -> None:
    assert same_model(tuple(rest.split())) is same


@every("word", ["8b", "0.5b", "8x7b", "8x22b", "a3b", "e4b", "16e", "270m", "1t"])
def test_a_size(word: str) -> None:
    assert is_size(word)


@every("word", ["b", "8", "8bb", "x7b", "r7b", "v3", "a3", "8gb", ""])
def test_no_size(word: str) -> None:
    assert not is_size(word)


@every(
    "model_id",
    [
        # Trained for calls by others: the no of the model they began with is not theirs.
        "mzbac/llama-3-8B-Instruct-function-calling-v0.2",
        "hiieu/Meta-Llama-3-8B-Instruct-function-calling-json-mode",
        "DiTy/gemma-2-9b-it-function-calling-GGUF",
        "Trelis/Llama-2-7b-chat-hf-function-calling-v2",
        "llama3:8b-instruct-tools",
        # Amazon's revisions begin at 1: this is the release v0.2, which calls nothing.
        "mistral.mistral-7b-instruct-v0:2",
    ],
)
def test_another_kind_of_model_is_none_of_the_family(model_id: str) -> None:
    assert find(model_id) is None


@every(
    ("model_id", "family"),
    [
        ("meta.llama3-1-8b-instruct-v1:0", "llama3.1"),
        ("us.meta.llama3-2-3b-instruct-v1:0", "llama3.2"),
        ("meta-llama/llama-3-3-70b-instruct", "llama3.3"),
        ("databricks-meta-llama-3-3-70b-instruct", "llama3.3"),
        ("meta-llama/llama-3-2-90b-vision-instruct", "llama3.2-vision"),
        ("meta-llama/llama-3-8b-instruct", "llama3"),
        ("ibm/granite-3-3-8b-instruct", "granite3"),
        ("ai21.jamba-1-5-large-v1:0", "jamba-1.5"),
        ("mistral.mixtral-8x7b-instruct-v0:1", "mixtral"),
        ("Salesforce/Llama-xLAM-2-8b-fc-r-gguf", "xlam-2"),
        ("qwen2.5:7b-instruct-tools", "qwen2.5"),
    ],
)
def test_the_spelling_of_a_host(model_id: str, family: str) -> None:
    found = find(model_id)
    assert found is not None and found.name == family

"""The size of a model, by its name and its family, and the limit that follows."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.core import families, model_sizes
from toolsupport.core.tool_limits import limits_of
from toolsupport.core.types import Capabilities, Capability

BILLION = 10**9
UNKNOWN = Capabilities({"max_tools": Capability("max_tools", None, "default", "")})


def most(name: str) -> int:
    size = model_sizes.parameters(name, families.find(name))
    (limit,) = limits_of(UNKNOWN, size, model_sizes.hosted(name))
    return limit.most


@every(
    ("name", "billions"),
    [
        ("Qwen/Qwen3-32B-AWQ", 32),
        ("llama-3.3-70b-versatile", 70),
        ("qwen3:30b-a3b", 30),
        ("qwen3-235b-a22b", 235),
        ("mixtral:8x7b", 56),
        ("Mixtral-8x22B-v0.1", 176),
        ("smollm2:360m", 0.36),
        ("Qwen2.5-7B-Instruct-1M", 7),
        ("hf.co/me/gpt4-x-alpaca-13b-GGUF:Q4_K_M", 13),
        ("openai/gpt-oss-120b", 120),
        ("phi4-mini", 3.8),
        ("phi4", 14),
        ("mistral-large-latest", 123),
        ("moonshotai/Kimi-K2-Instruct", 1000),
        ("some-new-model-13b-chat", 13),
    ],
)
def test_the_size_stands_in_the_name_or_the_family(name: str, billions: float) -> None:  # T1: all the parameters
    assert model_sizes.parameters(name, families.find(name)) == int(billions * BILLION)


@every(
    "name",
    [
        *("gpt-4o", "gpt-4.1-mini", "openai/gpt-5", "gpt-35-turbo", "o3-mini", "chatgpt-4o-latest"),
        *("claude-3-5-sonnet-20241022", "anthropic/claude-sonnet-5", "us.anthropic.claude-3-5-sonnet-20241022-v2:0"),
        *("gemini-2.5-pro", "models/gemini-4-flash", "deepseek-chat", "deepseek-reasoner", "mistral-large"),
        *(
            "mistral-medium-latest",
            "grok-4",
            "qwen-max",
            "llama-3.3-70b-versatile",
            "Qwen/Qwen3-32B-AWQ",
            "mixtral:8x7b",
        ),
        *("ft:gpt-4o-mini-2024-07-18:acme::abc", "amazon.nova-pro-v1:0", "openai.gpt-oss-120b-1:0", "MiniMax-M2.1"),
        *("accounts/fireworks/models/llama-v3p3-70b-instruct", "codestral-latest", "doubao-pro-32k", "ERNIE-4.0-8K"),
        *("ai21.jamba-1-5-large-v1:0", "longcat-flash-chat", "stepfun/step3", "hunyuan-a13b", "GLM-4.5-Air-AWQ"),
        *("deepseek/deepseek-v3.2", "llama-4-maverick", "qwen-flash", "MiniMax-M1", "moonshot-v1-128k", "glm-4-plus"),
        *("ernie-x1-turbo-32k", "meta-llama/Llama-4-Scout-17B-16E-Instruct"),
    ],
)
def test_large_models_are_not_cut_to_two(name: str) -> None:
    assert most(name) == 10


@every(
    "name",
    [
        *("gpt2", "gpt4all-j", "gpt-neox", "gpt-j", "mystery", "qwen3", "llama3.1", "gpt-oss"),
        *("my-claude-clone", "gemini-nano", "qwen3-claude-distill", "o", "opus", "deepseek-r1", "claudette", "geminix"),
    ],
)
def test_unknown_stays_unknown(name: str) -> None:
    assert model_sizes.parameters(name, families.find(name)) is None
    assert not model_sizes.hosted(name)


@pytest.mark.parametrize(
    ("name", "limit"), [("gemma3:4b", 2), ("gemma3:12b", 5), ("qwen3:30b-a3b", 5), ("qwen3:32b", 10)]
)
def test_the_class_of_a_size(name: str, limit: int) -> None:
    assert most(name) == limit


def test_a_size_that_is_no_guess_gives_its_own_reason() -> None:
    (hosted,) = limits_of(UNKNOWN, None, hosted=True)
    assert "parameters" not in hosted.reason
    measured = Capabilities({"max_tools": Capability("max_tools", 40, "measured", "")})
    assert [limit.rule for limit in limits_of(measured, None, hosted=True)] == ["max_tools"]

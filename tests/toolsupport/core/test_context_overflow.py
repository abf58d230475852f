"""A server's error that names both numbers is read in every envelope; other errors are not."""

from __future__ import annotations

import json

import pytest

from tests.tables import every
from toolsupport.core.context_overflow import OTHERWISE, ContextExceeded, exceeded, help_for

ERROR = {"code": 400, "message": "request (7912 tokens) exceeds", "n_prompt_tokens": 7912, "n_ctx": 4096}
PLAIN = json.dumps({"error": ERROR})
GO = "map[code:400 message:request (7912 tokens) exceeds n_ctx:4096 n_prompt_tokens:7912 type:exceeded]"


@pytest.mark.parametrize("body", [PLAIN, json.dumps({"error": PLAIN}), json.dumps({"error": json.dumps(PLAIN)}), GO])
def test_both_numbers_are_read(body: str) -> None:
    assert exceeded(400, body) == exceeded(0, body) == ContextExceeded(7912, 4096)
    assert exceeded(500, body) is None


SENTENCES = [
    ("request (14212 tokens) exceeds the available context size (8192 tokens), try increasing it", 14212, 8192),
    ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 9000, 8192),
    (
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages,"
        " 500 in the completion). Please reduce the length of the messages or completion.",
        5000,
        4096,
    ),
    ("The input (9001 tokens) is longer than the model's context length (8192 tokens).", 9001, 8192),
    (
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context "
        "length of only 4096 tokens, which is not enough.",
        5000,
        4096,
    ),
    (
        "This endpoint's maximum context length is 16384 tokens. However, you requested about 94307 tokens (94307 of "
        "text input). Please reduce the length of either one.",
        94307,
        16384,
    ),
    (
        "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your "
        "prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.",
        128001,
        128000,
    ),
    ("This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.", 5000, 4096),
    (
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000"
        " tokens: 4000 tokens from the input messages and 1000 tokens for the completion.",
        5000,
        4096,
    ),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
        300000,
        272000,
    ),
    ("The decoder prompt (length 5001) is longer than the maximum model length of 4096.", 5001, 4096),
    ("Input length (5000 tokens) exceeds the maximum allowed length (4096 tokens). Use a shorter one.", 5000, 4096),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and "
        "100 `max_new_tokens`",
        5000,
        4096,
    ),
    ("Input validation error: `inputs` must have less than 4095 tokens. Given: 5000", 5000, 4095),
    ("The prompt is too long: 5000, model maximum context length: 4095", 5000, 4095),
    ("The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", 1200293, 1048576),
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        40000,
        32768,
    ),
    ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 40000, 32768),
    ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537812, 131072),
    ("Please reduce the length of the messages. Current length is 9000 while limit is 8192", 9000, 8192),
    ("prompt is too long: 210000 tokens > 200000 maximum", 210000, 200000),
]


@pytest.mark.parametrize(("sentence", "prompt", "context"), SENTENCES)
def test_a_sentence_with_both_numbers_is_read(sentence: str, prompt: int, context: int) -> None:
    for body in (sentence, json.dumps({"error": sentence}), json.dumps({"error": {"message": sentence, "code": 400}})):
        assert exceeded(400, body) == ContextExceeded(prompt, context)


@every(
    "body",
    [
        "request (10 tokens) exceeds the available context size (8192 tokens)",
        "This model's maximum context length is 8192 tokens. " * 2000,
        "",
        "no",
        '{"n_ctx": 4096}',
        '{"n_prompt_tokens": 9}',
        '{"n_prompt_tokens": 9, "n_ctx": 4096}',
        '{"n_prompt_tokens": 9, "n_ctx": 0}',
        '{"n_prompt_tokens": "many", "n_ctx": "few"}',
        "n_ctx" * 100_000,
    ],
)
def test_other_errors_have_none(body: str) -> None:
    assert exceeded(400, body) is None


def test_what_helps_depends_on_the_server() -> None:
    assert "num_ctx" in help_for("ollama") and "-c " in help_for("llamacpp")
    assert help_for("nobody-knows") == OTHERWISE
    assert not any("num_ctx" in help_for(kind) for kind in ("llamacpp", "vllm", "openai", "custom"))
    sentence = ContextExceeded(7912, 4096).sentence("llamacpp")
    assert "7,912" in sentence and "4,096" in sentence and "-c" in sentence

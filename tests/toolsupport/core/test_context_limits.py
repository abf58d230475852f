"""A server's error that names both numbers is read in every envelope; other errors are not."""

from __future__ import annotations

import json

import pytest

from toolsupport.core.context_limits import OTHERWISE, ContextExceeded, exceeded, help_for

ERROR = {"code": 400, "message": "request (7912 tokens) exceeds", "n_prompt_tokens": 7912, "n_ctx": 4096}
PLAIN = json.dumps({"error": ERROR})
GO = "map[code:400 message:request (7912 tokens) exceeds n_ctx:4096 n_prompt_tokens:7912 type:exceeded]"


@pytest.mark.parametrize("body", [PLAIN, json.dumps({"error": PLAIN}), json.dumps({"error": json.dumps(PLAIN)}), GO])
def test_both_numbers_are_read(body: str) -> None:
    assert exceeded(400, body) == exceeded(0, body) == ContextExceeded(7912, 4096)
    assert exceeded(500, body) is None


@pytest.mark.parametrize(
    "body",
    [
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

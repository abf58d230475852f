"""The word on a server's badge, and answers that deny a model."""

from __future__ import annotations

import json

from tests.tables import every
from toolsupport.core import server_faults

LOADING = '{"error":{"message":"Loading model","type":"unavailable_error","code":503}}'


@every(
    ("kind", "status", "body", "title", "words"),
    [
        ("unreachable", 0, "", "Ollama", "Offline"),
        ("timeout", 0, "", "Ollama", "Offline"),
        ("unauthorized", 401, "", "OpenAI", "Wrong key"),
        ("unauthorized", 403, "", "OpenAI", "Wrong key"),
        ("garbled", 200, "<html>", "Ollama", "Not an Ollama server"),
        ("refused", 404, "404 page not found", "Ollama", "Not an Ollama server"),
        ("refused", 404, '{"error":"File Not Found"}', "vLLM", "Not a vLLM server"),
        ("refused", 302, "", "LM Studio", "Not an LM Studio server"),
        ("busy", 503, LOADING, "llama.cpp", "Starting"),
        ("busy", 503, "Service Unavailable", "llama.cpp", "Busy"),
        ("server", 500, "", "llama.cpp", "Fails"),
    ],
)
def test_a_badge_says_what_is_wrong(kind: str, status: int, body: str, title: str, words: str):  # M11
    assert server_faults.badge(server_faults.fault_of(kind, status, body), title)[0] == words


def test_only_what_may_pass_by_itself_is_asked_again_soon():  # M11
    assert {name for name in server_faults.FAULTS if server_faults.passes(name)} == {
        *("unreachable", "starting", "busy", "failing")
    }


@every(
    "missing, status, message",
    [
        (True, 404, "model 'qwen3:8b' not found"),
        (True, 404, 'model "x" not found, try pulling it first'),
        (True, 404, "The model `gpt-9` does not exist or you do not have access to it."),
        (True, 400, "model 'nope' not found"),
        (True, 404, "unknown model: x"),
        (False, 404, "404 page not found"),
        (False, 404, "File Not Found"),
        (False, 404, "No endpoints found that support tool use."),
        (False, 400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (False, 500, "model 'x' not found"),
        (False, 200, "model 'x' not found"),
    ],
)
def test_only_a_server_that_denies_a_model_makes_it_gone(missing: bool, status: int, message: str):
    assert server_faults.model_missing(status, json.dumps({"error": message})) is missing

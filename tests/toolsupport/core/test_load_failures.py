"""Servers' errors when a model does not load, and errors that only resemble them (F9)."""

from __future__ import annotations

import json

import pytest

from tests.tables import every
from toolsupport.core.events import Failed
from toolsupport.core.load_failures import is_loading, why


@every(
    "said",
    [
        "model requires more system memory (39.4 GiB) than is available (30.0 GiB)",
        "llama runner process has terminated: CUDA error: out of memory",
        "llama runner process has terminated: exit status 2",
        "timed out waiting for llama runner to start - progress 0.00",
        "model failed to load, this may be due to resource limitations or an internal error",
        "error loading model: unable to allocate CUDA0 buffer",
        "failed to create context with model",
        "llama-server process has terminated: signal: killed",
        "llama-server process has terminated: exit status 1",
        "llama-server process has terminated",
        "llama-server process no longer running: -1 error loading",
        "timed out waiting for llama-server to start - load stalled",
        "timed out waiting for llama-server to start: context canceled",
        "llama-server reported out-of-memory during startup: alloc_tensor_range",
        "llama-server startup failed after projector CPU offload retry: exit status 1",
        "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, "
        "check ollama server logs for details",
        "model name=broken failed to load",
        "exit status 1",
        "signal: killed",
    ],
)
def test_a_model_that_did_not_load(said: str) -> None:
    assert why(Failed("server", "The server failed.", 500, json.dumps({"error": said}))) == said
    assert why(Failed("server", "The server failed.", 200, json.dumps({"error": said}))) == said


@pytest.mark.parametrize(
    "failed",
    [
        Failed("server", "The server failed.", 500, '{"error": "template: :3: function not defined"}'),
        Failed("refused", "The server refused.", 400, '{"error": "out of memory"}'),
        Failed("model_missing", "No such model.", 404, '{"error": "unable to load model"}'),
        Failed("server", "The server failed.", 500, '{"error": "llama-server chat error: map[code:500]"}'),
        Failed("server", "The server failed.", 503, '{"error": {"message": "Loading model", "code": 503}}'),
        Failed("cut", "The answer broke off."),
        Failed("timeout", "The model sent nothing for 300 s. It may still be loading; try again."),
    ],
)
def test_other_failures(failed: Failed) -> None:
    assert why(failed) == ""


# the server's words → whether it loads its model
WORDS = {
    "Loading model": True,
    "The model is still being loaded.": True,
    "Model meta-llama/Llama-2-70b-chat is currently loading": True,
    "Model 'a b' is currently overloaded": False,
    "error loading model: out of memory": False,
    "The server is busy.": False,
}


@every("words", WORDS)
def test_a_model_that_is_still_loading(words: str) -> None:
    assert is_loading(json.dumps({"error": words, "estimated_time": 20.0})) is WORDS[words]

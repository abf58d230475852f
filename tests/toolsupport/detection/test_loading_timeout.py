"""Which answers show that a server loads its model."""

from __future__ import annotations

import json

import pytest

from toolsupport.core.events import Failed
from toolsupport.detection import loading_timeout
from toolsupport.detection.probe_reply import ProbeReply


# F9
@pytest.mark.parametrize(
    ("status", "message", "loading"),
    [
        (503, "Loading model", True),
        (503, "the model is still being loaded", True),
        (503, "failed loading model: cudaMalloc failed: out of memory", False),
        (503, "Service unavailable, downloading is disabled", False),
        (500, "Loading model", False),
    ],
)
def test_only_a_server_that_loads_its_model_is_waited_for(status: int, message: str, loading: bool) -> None:
    reply = ProbeReply(failed=Failed("busy", "It is busy.", status, json.dumps({"error": {"message": message}})))
    assert loading_timeout.is_loading(reply) is loading

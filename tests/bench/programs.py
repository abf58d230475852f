"""The gateway as programs see it: with keys of several people, and a tool on offer."""

from __future__ import annotations

from tests.bench import wire
from tests.bench.load import Caller, Scenario, Target
from tests.bench.site import Bench

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = {"type": "function", "function": {"name": "list_directory", "description": "Lists.", "parameters": PATH}}


def gateway(bench: Bench, scenario: Scenario) -> Target:
    port, pid = bench.served[0]
    return Target(port, b"data: [DONE]", [caller(port, key) for key in bench.keys(scenario)], pid)


def caller(port: int, key: str) -> Caller:
    body = {"messages": [{"role": "user", "content": "hello"}], "tools": [TOOL], "stream": True}

    def payload(model: str) -> bytes:
        # Without the tag a model's name has in the rows of the site: it is unique there.
        return wire.post(f"127.0.0.1:{port}", "/v1/chat/completions", {"model": model, **body}, key)

    return Caller(payload)

"""A server with real constrained decoding and a model of random weights: its replies fit with a schema, else never.

By night 3,000 replies. Each call is also checked against its tool's own schema, with patterns and multiples. With
LLAMA_SERVER llama.cpp is asked too, as far as it enforces what a schema demands.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from django.core.management import call_command

from tests.examples import by_night
from tests.factories import ModelProfileFactory, ServerFactory
from tests.forced.tool_sets import ToolSet, tool_sets
from tests.real.servers import HERE, Served, answering, running
from toolsupport.core.constrained import SchemaRules, call_schema
from toolsupport.core.types import JSON
from toolsupport.providers import PROVIDERS

pytestmark = pytest.mark.real_server

REPLIES = 3000 if by_night() else 30
LIMIT = 400  # tokens of a reply
FIT = 0.97


@pytest.fixture(scope="module")
def noise(mlx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server of this folder with a model whose weights are random."""
    directory = tmp_path_factory.mktemp("noise")
    model = directory / "model"
    subprocess.run([mlx_python, HERE / "random_model.py", model], check=True)
    (directory / "cache" / "hub").mkdir(parents=True)
    environment = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(directory / "cache")}
    with ExitStack() as stack:
        command = [str(mlx_python), str(HERE / "constrained_server.py"), str(model)]
        url = stack.enter_context(running(command, directory, environment))
        yield answering({"noise": Served(url, str(model))}, "/v1/models")["noise"]


@pytest.fixture(scope="module")
def llama_noise(mlx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """llama.cpp with the same model."""
    program = os.environ.get("LLAMA_SERVER")
    if not program:
        pytest.skip("LLAMA_SERVER names no llama-server")
    directory = tmp_path_factory.mktemp("llama")
    file = directory / "model.gguf"
    subprocess.run([mlx_python, HERE / "random_model.py", directory / "model"], check=True)
    subprocess.run([mlx_python, HERE / "tiny_gguf.py", directory / "model", file], check=True)
    with ExitStack() as stack:
        command = [program, "-m", str(file), "--offline", "-c", "8192", "-np", "1", "-t", "1"]
        url = stack.enter_context(running([*command, "--host", "127.0.0.1"], directory))
        yield answering({"noise": Served(url, "noise", "llamacpp")}, "/health")["noise"]


def replies(server: Served, count: int, *, force: bool) -> Iterator[tuple[JSON, ToolSet, str]]:
    """Yield the schema, the tools and the text of each reply that ended before its limit of tokens."""
    rules = SchemaRules(PROVIDERS[server.kind if server.kind == "llamacpp" else "vllm"].keywords)
    with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as client:
        for number, made in enumerate(tool_sets(count, seed=7)):
            schema = call_schema(made.tools, answer=number % 3 > 0, parallel=number % 2 > 0, rules=rules)
            body: dict[str, Any] = {"model": server.model, "seed": number, "max_tokens": LIMIT, "temperature": 1.0}
            body["messages"] = [{"role": "user", "content": f"Do number {number}."}]
            if force:
                named = {"name": "reply", "strict": True, "schema": schema}
                body["response_format"] = {"type": "json_schema", "json_schema": named}
            answer = client.post("/v1/chat/completions", json=body)
            answer.raise_for_status()
            choice = answer.json()["choices"][0]
            if choice["finish_reason"] == "stop":
                yield schema, made, choice["message"]["content"]


def fits(schema: JSON, made: ToolSet, text: str) -> bool:
    try:
        return jsonschema_rs.is_valid(schema, json.loads(text))
    except ValueError:
        return False


def usable(made: ToolSet, text: str) -> bool:
    """Return whether each call of a reply that fits is one that its tool takes."""
    reply, offered = json.loads(text), {tool.name: tool.parameters for tool in made.tools}
    calls = reply.get("calls", [reply] if "tool" in reply else [])
    return all(jsonschema_rs.is_valid(offered[call["tool"]], call["arguments"]) for call in calls)


def shares(server: Served) -> tuple[int, float, float]:
    """Return how many replies ended with a schema, and the part of them that fits with one and without."""
    made = list(replies(server, REPLIES, force=True))
    forced = [reply for reply in made if fits(*reply)]
    free = [fits(*reply) for reply in replies(server, max(10, REPLIES // 10), force=False)]
    kept = sum(usable(tools, text) for _, tools, text in forced)
    print(f"{len(made)} of {REPLIES} replies ended; {len(forced)} of them fit, {kept} with each tool's own schema")
    return len(made), len(forced) / len(made), sum(free) / max(1, len(free))


def test_replies_of_noise_fit_with_a_schema_and_hardly_ever_without(noise: Served) -> None:  # K1
    ended, forced, free = shares(noise)
    assert ended > REPLIES / 3 and forced >= FIT and free < 0.01


@pytest.mark.django_db(transaction=True)
def test_the_report_of_a_user_counts_them(noise: Served) -> None:
    """At temperature 0 this model chooses to answer each time, and writes no word: that fits."""
    server = ServerFactory(name="box", kind="vllm", base_url=noise.url)
    ModelProfileFactory(server=server, name=noise.model)
    out = io.StringIO()
    call_command("force_report", noise.model, "--rounds", "1", "--json", stdout=out)
    found = json.loads(out.getvalue())["figures"]
    counts = {name: found["constrained"][name] for name in ("ended", "fits", "called", "errors")}
    assert counts == {"ended": 12, "fits": 12, "called": 0, "errors": {}} and found["free"]["accepted"] == 0


def test_llama_server_makes_them_fit_too(llama_noise: Served) -> None:  # K1
    ended, forced, free = shares(llama_noise)
    assert ended > REPLIES / 3 and forced >= FIT and free < 0.01

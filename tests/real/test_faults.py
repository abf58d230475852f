"""Real servers that are set up wrongly, or lose a model: the verdict, and what a program gets."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.real.conftest import CALL, HELLO
from tests.real.servers import Bench, Recited, Served
from tests.real.test_models import FINAL, QUESTION, TEST, TOOLS, detect, named
from tests.serving import ADMIN, Site, prepare

pytestmark = pytest.mark.real_server

MODEL = Recited(HELLO, CALL, FINAL, TEST)
LONG = {"role": "user", "content": "word " * 1000}


@contextmanager
def site_of(directory: Path, started: dict[str, Served], **environment: str) -> Iterator[tuple[Site, str]]:
    """A running site that lists these models, and a key of its administrator."""
    directory.mkdir()
    addresses = ",".join(f"{name}={server.kind}+{server.url}" for name, server in started.items())
    site = Site(directory, {"TOOLSUPPORT_SERVERS": addresses, **environment})
    prepare(site)
    site.manage("refresh_models")
    site.start()
    try:
        yield site, site.manage("create_api_key", ADMIN[0]).strip()
    finally:
        site.kill()


def ask(site: Site, key: str, model: str, message: dict[str, Any] = QUESTION) -> httpx.Response:
    body = {"model": model, "messages": [message], "tools": TOOLS, "max_tokens": 200}
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.post(f"{site.url}/v1/chat/completions", json=body, headers=headers, timeout=60, trust_env=False)


# D6, P9
def test_a_llama_server_without_jinja_answers_without_tools(mlx_python: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        bench = Bench(mlx_python, named("LLAMA_SERVER"))
        started = bench.llama_server(stack, tmp_path / "servers", {"plain": MODEL}, "--no-jinja")
        # It enforces schemas without templates too: constrained output would come before an answer without tools.
        site, key = stack.enter_context(site_of(tmp_path / "site", started, TOOLSUPPORT_FORCE="0"))
        found = detect(site, "plain", "plain")
        assert found["verdict"] == "misconfigured" and "--jinja" in str(found)
        answer = ask(site, key, "plain/plain")
    assert answer.json()["choices"][0]["message"]["content"] == HELLO
    assert answer.headers["x-toolsupport-tools-left-out"] == "misconfigured"


# G4, F9
def test_a_llama_server_with_too_small_a_context(mlx_python: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        bench = Bench(mlx_python, named("LLAMA_SERVER"))
        started = bench.llama_server(stack, tmp_path / "servers", {"small": MODEL}, "-c", "1024")
        site, key = stack.enter_context(site_of(tmp_path / "site", started))
        error = ask(site, key, "small/small", LONG)
    assert (error.status_code, error.json()["error"]["code"]) == (400, "context_length_exceeded")
    assert "1024 tokens" in error.json()["error"]["message"]


# M2, G4
@pytest.mark.nightly
def test_ollama_loses_a_model(mlx_python: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        program = named("OLLAMA")
        started = Bench(mlx_python, program).ollama(stack, tmp_path / "servers", {"lost": MODEL})
        site, key = stack.enter_context(site_of(tmp_path / "site", started))
        assert ask(site, key, "lost/lost:latest").json()["choices"][0]["finish_reason"] == "tool_calls"
        environment = os.environ | {"OLLAMA_HOST": started["lost"].url, "HOME": str(tmp_path)}
        subprocess.run([program, "rm", "lost"], env=environment, check=True, capture_output=True)
        error = ask(site, key, "lost/lost:latest")
    assert (error.status_code, error.json()["error"]["code"]) == (404, "model_not_found")

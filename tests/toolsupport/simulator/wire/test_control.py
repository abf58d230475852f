"""New builds of the model that drifts."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from toolsupport.simulator.client_connection import Client
from toolsupport.simulator.http11 import ReceivedRequest, Response
from toolsupport.simulator.loaded_models import ModelMemory
from toolsupport.simulator.models import MODELS
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.wire import control


async def digests(http: httpx.AsyncClient) -> dict[str, str]:
    models = (await http.get("/api/tags")).json()["models"]
    return {model["name"].removesuffix(":latest"): model["digest"] for model in models}


@pytest.mark.asyncio
async def test_drifting_changes_one_digest_for_good(http: httpx.AsyncClient) -> None:  # M8
    before = await digests(http)
    answer = (await http.post("/simulator/drift")).json()
    after = await digests(http)
    assert [name for name in before if before[name] != after[name]] == ["sim-drifts"]
    assert answer == {"models": [{"name": "sim-drifts", "digest": after["sim-drifts"]}]}
    assert await digests(http) == after
    await http.post("/api/chat", json={"model": "sim-drifts"})
    assert (await http.get("/api/ps")).json()["models"][0]["digest"] == after["sim-drifts"]


@pytest.mark.asyncio
async def test_only_clients_on_this_machine_may_do_so() -> None:
    class Writer:
        def get_extra_info(self, name: str) -> Any:
            return ("192.0.2.7", 4711)

    client = cast(Client, SimpleNamespace(writer=Writer()))
    answer = await control.drift(SimulatorState(ModelMemory(0), 0), client, cast(ReceivedRequest, None))
    assert isinstance(answer, Response)
    assert answer.status == 403


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "changed"), [("sim-drifts", True), ("sim-honest:latest", False)])
async def test_pulling(http: httpx.AsyncClient, name: str, changed: bool) -> None:
    before = await digests(http)
    said = [json.loads(line) for line in (await http.post("/api/pull", json={"model": name})).text.splitlines()]
    after = await digests(http)
    assert (before != after) is changed
    assert said[0] == {"status": "pulling manifest"}
    assert said[1]["digest"] == f"sha256:{after[name.removesuffix(':latest')]}"
    assert said[-1] == {"status": "success"}


@pytest.mark.asyncio
async def test_pulling_what_is_not_there(http: httpx.AsyncClient) -> None:
    missing = {"error": "pull model manifest: file does not exist"}
    streamed = await http.post("/api/pull", json={"name": "nope"})
    assert (streamed.status_code, json.loads(streamed.text.splitlines()[-1])) == (200, missing)
    whole = await http.post("/api/pull", json={"name": "nope", "stream": False})
    assert (whole.status_code, whole.json()) == (500, missing)
    assert (await http.post("/api/pull", json={})).status_code == 400
    assert (await http.post("/api/pull", json={"model": "sim-long", "stream": False})).json() == {"status": "success"}
    assert MODELS["sim-long"].build == 1

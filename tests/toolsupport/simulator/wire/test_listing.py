"""The simulator's description of itself and its models."""

from __future__ import annotations

import httpx
import pytest

from tests.toolsupport.simulator.raw import body_of, exchange, post, timeless
from toolsupport.simulator.models import MODELS
from toolsupport.simulator.server import Simulator

DETAILS = (
    b'{"parent_model":"","format":"simulated","family":"simulated","families":["simulated"],'
    b'"parameter_size":"0B","quantization_level":"none"}'
)


def get(path: str, method: str = "GET") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n".encode()


@pytest.mark.asyncio
async def test_version_byte_for_byte(simulator: Simulator) -> None:
    assert timeless(await exchange(simulator.port, get("/api/version"))) == (
        b"HTTP/1.1 200 OK\r\nServer: toolsupport-simulator\r\nContent-Type: application/json; charset=utf-8\r\n"
        b'Content-Length: 20\r\nDate: D\r\nConnection: close\r\n\r\n{"version":"0.13.0"}'
    )


@pytest.mark.asyncio
async def test_tags_in_the_order_of_ollamas_struct(simulator: Simulator) -> None:
    body = body_of(await exchange(simulator.port, get("/api/tags")))
    honest = MODELS["sim-honest"]
    first = (
        b'{"models":[{"name":"sim-honest:latest","model":"sim-honest:latest","modified_at":"2025-01-01T00:00:00Z",'
        b'"size":65536,"digest":"' + honest.digest.encode() + b'","details":' + DETAILS + b"},{"
    )
    assert body.startswith(first)
    assert body.count(b'"digest"') == len(MODELS)


@pytest.mark.asyncio
async def test_every_answer_says_who_it_comes_from(http: httpx.AsyncClient) -> None:  # M8
    for path in ("/", "/api/tags", "/api/ps", "/v1/models", "/nowhere"):
        assert (await http.get(path)).headers["server"] == "toolsupport-simulator"
    assert all(model["details"]["family"] == "simulated" for model in (await http.get("/api/tags")).json()["models"])


@pytest.mark.asyncio
async def test_head_has_no_body(simulator: Simulator) -> None:
    for path in ("/", "/api/tags", "/api/version"):
        head, _, body = (await exchange(simulator.port, get(path, "HEAD"))).partition(b"\r\n\r\n")
        assert body == b""
        assert b"Content-Length: " in head


@pytest.mark.asyncio
async def test_loaded_models_byte_for_byte(simulator: Simulator) -> None:
    assert body_of(await exchange(simulator.port, get("/api/ps"))) == b'{"models":[]}'
    loading = {"model": "sim-honest", "options": {"num_ctx": 8192}}
    await exchange(simulator.port, post("/api/chat", loading, "Connection: close"))
    digest = MODELS["sim-honest"].digest.encode()
    names = b'"name":"sim-honest:latest","model":"sim-honest:latest"'
    loaded = timeless(body_of(await exchange(simulator.port, get("/api/ps"))))
    made = b',"size":65536,"digest":"' + digest + b'","details":' + DETAILS
    assert loaded == b'{"models":[{' + names + made + b',"created_at":T,"size_vram":0,"context_length":8192}]}'


@pytest.mark.asyncio
async def test_shows_the_capabilities_only_where_the_server_knows_them(http: httpx.AsyncClient) -> None:
    for name, model in MODELS.items():
        shown = (await http.post("/api/show", json={"model": name})).json()
        given = tuple(shown["capabilities"]) if "capabilities" in shown else None
        assert given == model.capabilities
        assert shown["model_info"]["simulated.context_length"] == model.context
    silent = [name for name, model in MODELS.items() if model.capabilities is None]
    assert silent == ["sim-refuses", "sim-unknown", "sim-misconfigured"]


@pytest.mark.asyncio
async def test_shows_fields_in_the_order_of_ollamas_struct(http: httpx.AsyncClient) -> None:
    shown = (await http.post("/api/show", json={"name": "sim-thinks"})).json()
    fields = ["license", "modelfile", "template", "details", "model_info", "capabilities", "modified_at"]
    assert list(shown) == fields
    assert "no language model" in shown["license"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("content", "status", "error"),
    [
        ("", 400, "missing request body"),
        ("{}", 400, "model is required"),
        ('{"model":"nope"}', 404, "model 'nope' not found"),
        ('{"model":3}', 400, "json: cannot unmarshal number into Go struct field ShowRequest.model of type string"),
    ],
)
async def test_errors_of_show(http: httpx.AsyncClient, content: str, status: int, error: str) -> None:
    answer = await http.post("/api/show", content=content)
    assert (answer.status_code, answer.json()) == (status, {"error": error})


@pytest.mark.asyncio
async def test_openai_models(http: httpx.AsyncClient) -> None:
    listed = (await http.get("/v1/models")).json()
    assert listed["data"][0] == {
        "id": "sim-honest:latest",
        "object": "model",
        "created": 1735689600,
        "owned_by": "library",
    }
    assert (await http.get("/v1/models/sim-long")).json()["id"] == "sim-long"
    missing = await http.get("/v1/models/nope")
    assert (missing.status_code, missing.json()["error"]["message"]) == (404, "model 'nope' not found")

"""Servers' descriptions of themselves: the simulator, old and unusual ones, and offline ones."""

from __future__ import annotations

import time

import pytest

from tests.toolsupport.providers.scripted import HANG, Step, answer, scripted, told
from toolsupport import providers
from toolsupport.core.errors import ConfigError, GarbledReply, ProviderError, RequestRefused, Unreachable
from toolsupport.core.types import Endpoint
from toolsupport.providers import ModelDetails, ModelReport, ServerReport, model_listing
from toolsupport.simulator.server import Simulator

TAGS = {
    "models": [
        {
            "name": "qwen3:8b",
            "model": "qwen3:8b",
            "modified_at": "2026-01-01T00:00:00Z",
            "size": 5225388164,
            "digest": "500a1f067a9f",
            "details": {"family": "qwen3", "parameter_size": "8.2B", "quantization_level": "Q4_K_M"},
        },
        {"name": "new:1b", "size": 1, "digest": "d", "details": None, "capabilities": ["completion"]},
        {"name": "new:1b", "size": 2, "digest": "twice", "capabilities": ["completion"]},
        {"size": 3},
        *({"name": name} for name in ("a\u202eb", "a\nb", " ", "x" * 201)),
        "odd",
    ]
}
REPORTS = (
    ModelReport("qwen3:8b", "500a1f067a9f", 5225388164, "qwen3", "Q4_K_M", True, None, "2026-01-01T00:00:00Z"),
    ModelReport("new:1b", "twice", 2),
)


class Routes:
    """Answers by path, since the three questions of a survey come side by side."""

    def __init__(self, **answers: object) -> None:
        self.answers = {f"/api/{path}": value for path, value in answers.items()}

    def __call__(self, path: str) -> object:
        return self.answers[path]


@pytest.fixture
def routes(monkeypatch: pytest.MonkeyPatch):
    def use(**answers: object) -> Endpoint:
        known = Routes(**answers)

        async def get_json(endpoint: Endpoint, path: str) -> object:
            value = known(path)
            if isinstance(value, Exception):
                raise value
            return value

        monkeypatch.setattr("toolsupport.providers.http_client.get_json", get_json)
        return Endpoint("ollama", "http://127.0.0.1:1")

    return use


@pytest.mark.asyncio
async def test_a_survey(routes) -> None:
    endpoint = routes(tags=TAGS, version={"version": "0.13.0"}, ps={"models": [{"name": "qwen3:8b"}]})
    assert await providers.survey(endpoint) == ServerReport("0.13.0", REPORTS)


@pytest.mark.asyncio
async def test_only_the_list_is_indispensable(routes) -> None:
    missing = RequestRefused("no such path", status=404)
    report = await providers.survey(routes(tags=TAGS, version=missing, ps=missing))
    assert report.version == ""
    assert not any(model.loaded for model in report.models)


@pytest.mark.asyncio
@pytest.mark.parametrize("tags", [[], {}, {"object": "list", "data": []}, None, "models", 5])
async def test_not_an_ollama(routes, tags: object) -> None:
    with pytest.raises(GarbledReply, match="is not Ollama"):
        await providers.survey(routes(tags=tags, version={}, ps={}))


@pytest.mark.asyncio
async def test_the_simulator_over_the_wire() -> None:
    simulator = Simulator("127.0.0.1", 0, pace_ms=0)
    await simulator.start()
    try:
        endpoint = Endpoint("simulator", f"http://127.0.0.1:{simulator.port}")
        report = await providers.survey(endpoint)
        assert report.version
        assert {"sim-honest:latest", "sim-refuses:latest"} <= {model.name for model in report.models}
        assert all(model.digest and model.family == "simulated" for model in report.models)
        honest = await providers.describe(endpoint, "sim-honest:latest")
        assert honest.capabilities == ("completion", "tools")
        assert honest.context_length
        assert len(honest.template_hash) == 32
        assert (await providers.describe(endpoint, "sim-unknown:latest")).capabilities is None
        with pytest.raises(RequestRefused, match="does not have this model") as raised:
            await providers.describe(endpoint, "llama9")
        assert (raised.value.kind, raised.value.status) == ("model_missing", 404)
    finally:
        await providers.close()
        await simulator.stop()


@pytest.mark.asyncio
async def test_a_description() -> None:
    shown = {
        "template": "{{ .Prompt }}",
        "system": "Be brief.",
        "parameters": "stop x",
        "details": {"family": "qwen3", "quantization_level": "Q4_K_M"},
        "model_info": {"general.architecture": "qwen3", "general.parameter_count": 8, "qwen3.context_length": 40960},
        "capabilities": ["completion", "tools", "thinking"],
    }
    async with scripted(told(shown)) as server:
        details = await providers.describe(server.endpoint(), "qwen3:8b")
        assert server.bodies == [{"model": "qwen3:8b"}]
    assert details == ModelDetails(
        template_hash="b507b9c2f6ca642bffcd06665ea7c91f",
        one_call=False,
        capabilities=("completion", "tools", "thinking"),
        context_length=40960,
        parameter_count=8,
        quantization="Q4_K_M",
        family="qwen3",
        system="Be brief.",
        parameters="stop x",
    )


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("template", "one_call"),
    [
        ('{{- raise_exception("This model only supports single tool-calls at once!") }}', True),
        ("{%- for call in message.tool_calls %}", False),
        ("", None),
    ],
)
async def test_a_template_of_ollama_that_takes_one_call(template: str, one_call: bool | None) -> None:
    async with scripted(told({"template": template, "capabilities": ["tools"]})) as server:
        assert (await providers.describe(server.endpoint(), "m")).one_call is one_call


@pytest.mark.asyncio
@pytest.mark.parametrize("shown", [{}, {"model_info": 5, "details": [], "capabilities": "tools", "template": None}])
async def test_a_description_that_says_nothing(shown: object) -> None:
    async with scripted(told(shown)) as server:
        assert await providers.describe(server.endpoint(), "m") == ModelDetails()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("steps", "error", "kind"),
    [
        ((), Unreachable, "unreachable"),
        (answer(200, b"<html>"), GarbledReply, "garbled"),
        (answer(401, b"no"), RequestRefused, "unauthorized"),
        (answer(500, b"no"), RequestRefused, "server"),
        ((HANG,), Unreachable, "timeout"),
    ],
)
async def test_a_server_that_does_not_answer_well(
    steps: tuple[Step, ...], error: type[ProviderError], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_listing, "SURVEY_SECONDS", 1.0)
    async with scripted(steps) as server:
        with pytest.raises(error) as raised:
            await providers.survey(server.endpoint())
        assert raised.value.kind == kind
        assert str(server.port) in str(raised.value)


@pytest.mark.asyncio
async def test_a_silent_server_is_left_after_two_seconds() -> None:
    async with scripted((HANG,)) as server:
        began = time.monotonic()
        with pytest.raises(Unreachable, match="nothing came for 2 s"):
            await providers.survey(server.endpoint())
        assert 1.9 < time.monotonic() - began < 10


@pytest.mark.asyncio
async def test_an_unknown_kind() -> None:
    with pytest.raises(ConfigError, match="use one of ollama, simulator"):
        await providers.survey(Endpoint("telepathy", "http://127.0.0.1:1"))


def test_every_wire_has_a_surveyor() -> None:
    assert {row.wire for row in providers.PROVIDERS.values()} == set(model_listing.SURVEYORS)

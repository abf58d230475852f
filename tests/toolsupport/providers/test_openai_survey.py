"""Descriptions of OpenAI-compatible servers, from detailed ones to lists of names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.toolsupport.providers.scripted import answer, scripted, told
from toolsupport import providers
from toolsupport.core.errors import GarbledReply, RequestRefused, Unreachable
from toolsupport.core.types import Endpoint
from toolsupport.providers import ModelDetails, ServerReport

ABOUT = Path(__file__).parents[2] / "wire" / "openai" / "about"
NOT_THERE = RequestRefused("no such path", kind="refused", status=404)
EVERYTHING = ("tools", "thinking", "vision")

Survey = Callable[..., Any]


def recorded(name: str) -> Any:
    return json.loads((ABOUT / f"{name}.json").read_text())


def listing(*entries: dict) -> dict:
    return {"object": "list", "data": list(entries)}


@pytest.fixture
def survey(monkeypatch: pytest.MonkeyPatch) -> Survey:
    """Ask a server of this kind that knows these paths; `asked` of the function lists what it was asked for."""

    async def ask(kind: str, **answers: Any) -> ServerReport:
        known = {"/v1/models": answers.pop("models")} | {f"/{name}": value for name, value in answers.items()}

        async def get_json(endpoint: Endpoint, path: str) -> Any:
            asked.append(path)
            value = known.get(path.replace("/api/v0/models", "/v0"), NOT_THERE)
            if isinstance(value, Exception):
                raise value
            return value

        monkeypatch.setattr("toolsupport.providers.http_client.get_json", get_json)
        return await providers.survey(Endpoint(kind, "http://127.0.0.1:1"))

    asked: list[str] = []
    ask.asked = asked  # type: ignore[attr-defined]
    return ask


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["llamacpp", "openai"])
async def test_llama_server_tells_what_its_template_does(survey: Survey, kind: str) -> None:  # D6
    report = await survey(kind, models=recorded("llamacpp_models"), props=recorded("llamacpp_props"))
    [model] = report.models
    assert report.version == "b1-0c1e570"
    assert (model.name, model.size_bytes, model.quantization) == ("models/hermes-calls.gguf", 220416, "F16")
    assert model.details.capabilities == ("completion", "tools")
    assert model.details.unsaid == ("thinking",)
    assert (model.details.context_length, model.details.parameter_count) == (1024, 109888)
    assert len(model.details.template_hash) == 32


@pytest.mark.asyncio
async def test_props_without_what_the_template_does(survey: Survey) -> None:
    """Builds before 2026, and KoboldCpp."""
    props = recorded("llamacpp_props")
    del props["chat_template_caps"]
    for owner in ("llamacpp", "koboldcpp"):
        [model] = (await survey("openai", models=listing({"id": "m", "owned_by": owner}), props=props)).models
        assert model.details.unsaid == ("tools", "thinking") and model.details.one_call is None
        assert model.details.context_length == 1024
        assert len(model.details.template_hash) == 32


@pytest.mark.asyncio
@pytest.mark.parametrize("models", [listing(), {"object": "list", "data": None}, []])
async def test_a_list_without_models(survey: Survey, models: Any) -> None:
    assert (await survey("openai", models=models)).models == ()


@pytest.mark.asyncio
async def test_its_imitation_of_ollamas_list_proves_nothing(survey: Survey) -> None:  # D1
    report = await survey("llamacpp", models=recorded("llamacpp_models"))
    assert report.models[0].capabilities is None
    assert report.models[0].details.unsaid == EVERYTHING


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "caps",
    [
        {"supports_tools": True, "supports_tool_calls": False},
        # DeepSeek R1's writes the calls of a history, and drops the tools of the request.
        {"supports_tools": False, "supports_tool_calls": True},
    ],
)
async def test_a_template_without_tools_is_a_no(survey: Survey, caps: dict) -> None:
    props = recorded("llamacpp_props")
    props["chat_template_caps"] |= caps
    [model] = (await survey("llamacpp", models=recorded("llamacpp_models"), props=props)).models
    assert model.capabilities == ("completion",)
    assert "tools" not in model.details.unsaid


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("caps", "one_call"),
    [
        ({}, False),
        ({"supports_parallel_tool_calls": False}, True),
        ({"supports_parallel_tool_calls": False, "supports_tool_calls": False}, None),
        ({"supports_parallel_tool_calls": None}, None),
    ],
)
async def test_a_template_that_takes_one_call_a_message(survey: Survey, caps: dict, one_call: bool | None) -> None:
    props = recorded("llamacpp_props")
    props["chat_template_caps"] |= caps
    [model] = (await survey("llamacpp", models=recorded("llamacpp_models"), props=props)).models
    assert model.details.one_call is one_call


@pytest.mark.asyncio
@pytest.mark.parametrize("caps", [{"supports_tools": True}, {"supports_tool_calls": True}])
async def test_one_of_the_two_facts_about_a_template_is_enough(survey: Survey, caps: dict) -> None:
    props = recorded("llamacpp_props") | {"chat_template_caps": caps}
    [model] = (await survey("llamacpp", models=recorded("llamacpp_models"), props=props)).models
    assert model.capabilities == ("completion", "tools")


LLAMA = recorded("llamacpp_models")["data"][0]
PROPS = recorded("llamacpp_props")
LM_STUDIO = {"id": "m", "type": "llm", "arch": "qwen3", "quantization": "Q4_K_M", "state": "loaded"}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("vllm", {"models": {"root": "Qwen/Qwen3-8B"}}, {"models": {"root": "/models/Llama-3.1-8B-Instruct"}}),
        ("vllm", {"models": {"root": "/lora/a", "parent": "b"}}, {"models": {"root": "/lora/a", "parent": "c"}}),
        ("llamacpp", {"models": LLAMA, "props": PROPS}, {"models": LLAMA, "props": PROPS | {"model_path": "b.gguf"}}),
        (
            "llamacpp",
            {"models": LLAMA, "props": PROPS},
            {"models": LLAMA | {"meta": LLAMA["meta"] | {"size": 330624}}, "props": PROPS},
        ),
        ("lmstudio", {"v0": LM_STUDIO}, {"v0": LM_STUDIO | {"quantization": "Q8_0"}}),
    ],
)
async def test_another_model_behind_the_same_name_is_another_build(
    survey: Survey, kind: str, before: dict, after: dict
) -> None:
    async def digest(answers: dict) -> str:
        entries = {path: listing({"id": "m", **answers.get(path, {})}) for path in {"models", *answers} - {"props"}}
        [model] = (await survey(kind, **{**answers, **entries})).models
        return str(model.digest)

    first, second = await digest(before), await digest(after)
    assert first and second and first != second
    assert first == await digest(before)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        # The name is the whole truth, a time of start is none, and what is not loaded yet has no size.
        ("vllm", {"id": "m", "root": "m", "parent": None, "created": 1}),
        ("openai", {"id": "m", "created": 2, "owned_by": "system"}),
        ("llamacpp", {"id": "m", "meta": None}),
        ("lmstudio", {"id": "m", "state": "not-loaded"}),
    ],
)
async def test_no_digest_where_nothing_names_the_build(survey: Survey, kind: str, entry: dict) -> None:
    [model] = (await survey(kind, models=listing(entry))).models
    assert model.digest == ""


@pytest.mark.asyncio
@pytest.mark.parametrize(("status", "digest"), [(503, None), (500, None), (404, ""), (403, "")])
async def test_a_digest_that_could_not_be_read_is_unknown(survey: Survey, status: int, digest: str | None) -> None:
    failed = RequestRefused("no", kind="refused", status=status)
    [model] = (await survey("llamacpp", models=recorded("llamacpp_models"), props=failed)).models
    assert model.digest == digest


@pytest.mark.asyncio
async def test_a_loaded_model_of_a_router_is_no_other_build(survey: Survey) -> None:
    report = await survey("llamacpp", models=recorded("llamacpp_router"), props=recorded("llamacpp_props"))
    assert {model.digest for model in report.models} == {""}


@pytest.mark.asyncio
async def test_a_router_says_nothing_of_single_models(survey: Survey) -> None:
    report = await survey("llamacpp", models=recorded("llamacpp_router"), props=recorded("llamacpp_props"))
    loaded = {model.name for model in report.models if model.loaded}
    assert len(report.models) == 5 and loaded == {"mistral-calls", "think-calls"}
    assert all("tools" in model.details.unsaid for model in report.models)
    assert all(model.details.template_hash == "" for model in report.models)


def offers(*supports: bool) -> list[dict]:
    return [{"provider": str(at), "status": "live", "supports_tools": one} for at, one in enumerate(supports)]


OPENROUTER = {
    "id": "a/b",
    "context_length": 131072,
    "architecture": {"input_modalities": ["text", "image"]},
    "supported_parameters": ["tools", "reasoning", "temperature"],
}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "entry", "capabilities", "unsaid", "context"),
    [
        ("openrouter", OPENROUTER, ("completion", *EVERYTHING), (), 131072),
        ("openrouter", OPENROUTER | {"supported_parameters": []}, ("completion", "vision"), (), 131072),
        (
            "mistral",
            {"id": "m", "capabilities": {"function_calling": True, "vision": False}, "max_context_length": 9},
            ("completion", "tools"),
            ("thinking",),
            9,
        ),
        (
            "mistral",
            {"id": "m", "capabilities": {"function_calling": False}},
            ("completion",),
            ("thinking", "vision"),
            None,
        ),
        # Fireworks, then the router of Hugging Face, whose providers may differ.
        ("openai", {"id": "m", "supports_tools": True}, ("completion", "tools"), ("thinking", "vision"), None),
        ("openai", {"id": "m", "supports_tools": False}, ("completion",), ("thinking", "vision"), None),
        ("openai", {"id": "m", "providers": offers(True, True)}, ("completion", "tools"), ("thinking", "vision"), None),
        ("openai", {"id": "m", "providers": offers(False)}, ("completion",), ("thinking", "vision"), None),
        ("openai", {"id": "m", "providers": offers(True, False)}, None, EVERYTHING, None),
        ("openai", {"id": "m", "providers": [{"provider": "a"}, "odd"]}, None, EVERYTHING, None),
        ("vllm", {"id": "m", "owned_by": "vllm", "max_model_len": 4096}, None, EVERYTHING, 4096),
        ("groq", {"id": "m", "context_window": 8192}, None, EVERYTHING, 8192),
        ("openai.com", {"id": "m", "created": 1, "owned_by": "system"}, None, EVERYTHING, None),
        (
            "openai",
            {"id": "m", "capabilities": ["completion"], "meta": None, "architecture": 5},
            None,
            EVERYTHING,
            None,
        ),
    ],
)
async def test_what_a_list_tells(
    survey: Survey, kind: str, entry: dict, capabilities: tuple | None, unsaid: tuple, context: int | None
) -> None:
    [model] = (await survey(kind, models=listing(entry))).models
    assert model.capabilities == model.details.capabilities == capabilities
    assert (model.details.unsaid, model.details.context_length) == (unsaid, context)


@pytest.mark.asyncio
async def test_lm_studio_tells_more_elsewhere(survey: Survey) -> None:
    more = listing(
        {
            "id": "a",
            "type": "vlm",
            "state": "loaded",
            "capabilities": ["tool_use"],
            "max_context_length": 131072,
            "loaded_context_length": 4096,
            "quantization": "4bit",
        },
        {"id": "b", "type": "llm", "state": "not-loaded", "capabilities": [], "max_context_length": 8192},
        {"id": "c", "type": "embeddings"},
    )
    report = await survey("lmstudio", models=listing({"id": "a"}, {"id": "b"}, {"id": "c"}), v0=more)
    one, other, vectors = report.models
    assert (vectors.name, vectors.capabilities) == ("c", ("embedding",))
    assert (one.loaded, one.quantization, one.details.context_length) == (True, "4bit", 4096)
    assert (one.capabilities, one.details.unsaid) == (("completion", "tools", "vision"), ("thinking",))
    # Not trained for tools is not the same as unable to use them.
    assert (other.loaded, other.capabilities, other.details.unsaid) == (False, ("completion",), ("tools", "thinking"))
    assert other.details.context_length == 8192


@pytest.mark.asyncio
async def test_a_version_where_there_is_one(survey: Survey) -> None:
    entry = {"id": "m", "owned_by": "vllm"}
    assert (await survey("openai", models=listing(entry), version={"version": "0.11.0"})).version == "0.11.0"
    assert (await survey("vllm", models=listing(entry))).version == ""


@pytest.mark.asyncio
async def test_an_unknown_server_is_asked_for_its_list_alone(survey: Survey) -> None:
    await survey("openai", models=listing({"id": "m"}))
    assert survey.asked == ["/v1/models"]  # type: ignore[attr-defined]


@pytest.mark.asyncio
@pytest.mark.parametrize("models", [[{"id": "m"}, "odd", {}], listing({"id": "m"}, {"id": "m"}, {"id": None})])
async def test_lists_of_other_shapes(survey: Survey, models: Any) -> None:
    assert [model.name for model in (await survey("openai", models=models)).models] == ["m"]


@pytest.mark.asyncio
@pytest.mark.parametrize("models", [{}, {"models": []}, {"data": None}, "models", None, 5])
async def test_what_is_no_list_is_said(survey: Survey, models: Any) -> None:
    with pytest.raises(GarbledReply, match="is not OpenAI-compatible"):
        await survey("openai", models=models)


@pytest.mark.asyncio
async def test_a_server_that_goes_away_between_two_questions(survey: Survey) -> None:
    with pytest.raises(Unreachable):
        await survey("llamacpp", models=listing({"id": "m"}), props=Unreachable("gone"))


@pytest.mark.asyncio
async def test_one_model_by_its_name() -> None:
    async with scripted(told(listing({"id": "m", "max_model_len": 9}))) as server:
        endpoint = server.endpoint(kind="openai")
        assert await providers.describe(endpoint, "m") == ModelDetails(unsaid=EVERYTHING, context_length=9)
        with pytest.raises(RequestRefused, match="does not have this model"):
            await providers.describe(endpoint, "other")


@pytest.mark.asyncio
async def test_the_key_goes_along_and_a_wrong_one_is_told() -> None:
    async with scripted(answer(401, b'{"error":{"message":"Invalid API Key"}}')) as server:
        with pytest.raises(RequestRefused, match="requires another API key") as raised:
            await providers.survey(Endpoint("openai", server.endpoint().base_url, api_key="sk-canary"))
        assert "authorization: bearer sk-canary" in server.requests[0][0].lower()
        assert "canary" not in str(raised.value)

"""The treatment of a JSON schema by each simulated server, on both protocols."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.toolsupport.simulator.raw import ask

NATIVE, OPENAI = "/api/chat", "/v1/chat/completions"
WORD = {"type": "object", "properties": {"word": {"const": "qzx7"}}, "required": ["word"]}
ODD = {**WORD, "properties": {**WORD["properties"], "more": {"type": "string", "pattern": r"^hello\!$"}}}  # type: ignore[dict-item]
HELD = {"word": "qzx7"}
REFUSED = "invalid_request_error"
REFUSAL = "This response_format type is unavailable now"


def demanding(schema: Any) -> dict[str, dict[str, Any]]:
    """The field of each protocol that demands a schema."""
    response_format = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
    return {NATIVE: {"format": schema}, OPENAI: {"response_format": response_format}}


async def said(http: httpx.AsyncClient, path: str, body: dict[str, Any]) -> str:
    answer = (await http.post(path, json={**body, "stream": False})).json()
    message = answer["message"] if path == NATIVE else answer["choices"][0]["message"]
    return str(message["content"])


def word_of(text: str) -> Any:
    try:
        return {"word": json.loads(text)["word"]}
    except (ValueError, KeyError, TypeError):
        return None


# Model → whether it is held to a plain schema, and to one whose pattern is hard to parse.
HOLDS = {
    "sim-constrained": (True, True),
    "sim-noise": (True, True),
    "sim-constrained-thinks": (True, True),
    "sim-unconstrained": (False, False),
    "sim-fails-open": (True, False),
    "sim-honest": (False, False),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("path", [NATIVE, OPENAI])
@pytest.mark.parametrize("model", HOLDS)
async def test_each_holds_its_model_as_documented(http: httpx.AsyncClient, path: str, model: str) -> None:  # K9
    for schema, expected in zip((WORD, ODD), HOLDS[model], strict=True):
        text = await said(http, path, ask("Say hello, never qzx7.", model, **demanding(schema)[path]))
        assert (word_of(text) == HELD) is expected, text


@pytest.mark.asyncio
async def test_one_refuses_with_a_real_body(http: httpx.AsyncClient) -> None:
    for path, expected in (
        (NATIVE, {"error": REFUSAL}),
        (OPENAI, {"error": {"message": REFUSAL, "type": REFUSED, "param": None, "code": REFUSED}}),
    ):
        body = ask("Say hello.", "sim-no-schemas", **demanding(WORD)[path])
        refused = await http.post(path, json=body)
        assert (refused.status_code, refused.json()) == (400, expected)
        assert (await http.post(path, json=ask("Say hello.", "sim-no-schemas"))).status_code == 200


@pytest.mark.asyncio
async def test_other_ways_to_demand_json(http: httpx.AsyncClient) -> None:
    assert word_of(await said(http, OPENAI, ask("hi", "sim-noise", json_schema=WORD))) == HELD
    for path, field in ((NATIVE, {"format": "json"}), (OPENAI, {"response_format": {"type": "json_object"}})):
        assert isinstance(json.loads(await said(http, path, ask("hi", "sim-noise", **field))), dict)
    for none in ({}, {"format": ""}, {"format": None}):
        with pytest.raises(ValueError, match=r"Expecting|Extra"):
            json.loads(await said(http, NATIVE, ask("hi", "sim-noise", **none)))
    unknown = await http.post(NATIVE, json=ask("hi", "sim-noise", format="yaml"))
    words = 'invalid format: "\\"yaml\\""; expected "json" or a valid JSON Schema object'
    assert (unknown.status_code, unknown.json()) == (400, {"error": words})


@pytest.mark.asyncio
async def test_thoughts_stay_free_and_a_limit_of_tokens_cuts_the_json(http: httpx.AsyncClient) -> None:  # K6
    body = {**ask("hi", "sim-constrained-thinks", format=WORD), "stream": False}
    free = (await http.post(NATIVE, json=body)).json()["message"]
    assert "The person says" in free["thinking"] and word_of(free["content"]) == HELD
    without = (await http.post(NATIVE, json={**body, "think": False})).json()["message"]
    assert "thinking" not in without and word_of(without["content"]) == HELD
    cut = (await http.post(NATIVE, json={**body, "think": False, "options": {"num_predict": 2}})).json()
    assert (cut["done_reason"], word_of(cut["message"]["content"])) == ("length", None)
    assert cut["message"]["content"].startswith("{")


@pytest.mark.asyncio
async def test_the_same_request_gives_the_same_noise(http: httpx.AsyncClient) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "t": {"type": "string"}},
        "required": ["n", "t"],
    }
    texts = [await said(http, NATIVE, ask(word, "sim-noise", format=schema)) for word in ("a", "a", "b", "c")]
    assert texts[0] == texts[1] and len({*texts}) == 3


@pytest.mark.asyncio
async def test_intended_calls_are_written_where_a_schema_is_enforced_and_malformed_where_not(
    http: httpx.AsyncClient,
) -> None:
    tool = {
        "name": "read_file",
        "description": "Read a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    }
    system = {"role": "system", "content": f"You can call tools.\n<tools>\n{json.dumps(tool)}\n</tools>"}
    call = {
        "type": "object",
        "properties": {"tool": {"const": "read_file"}, "arguments": tool["parameters"]},
        "required": ["tool", "arguments"],
    }
    answer = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    messages = [system, {"role": "user", "content": "Read config.json."}]
    for model, held in (("sim-constrained", True), ("sim-unconstrained", False)):
        text = await said(http, NATIVE, ask("", model, messages=messages, format={"anyOf": [call, answer]}))
        if held:
            assert json.loads(text) == {"tool": "read_file", "arguments": {"path": "config.json"}}
        else:
            assert "read_file" in text and not text.startswith("{")

"""The Embeddings API: requests, refusals and answers."""

from __future__ import annotations

import json
import struct
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.factories import ModelProfileFactory, ServerFactory
from tests.tables import every
from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.providers.scripted import Scripted, answer, scripted, told
from toolsupport.gateway.answer_runner import places
from toolsupport.gateway.embeddings.request import read
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.request_preparation import Caller

Knows = Callable[..., Any]
PATH = "/v1/embeddings"
# One value that is wrong → the field that the error names.
WRONG: dict[str, tuple[Any, str]] = {
    "no model": ({"model": None}, "model"),
    "a number as model": ({"model": 1}, "model"),
    "a list as model": ({"model": ["m"]}, "model"),
    "an object as model": ({"model": {}}, "model"),
    "a truth as model": ({"model": True}, "model"),
    "an empty model": ({"model": ""}, "model"),
    "a blank model": ({"model": "  "}, "model"),
    "a line as model": ({"model": "\n"}, "model"),
    "a NUL in the model": ({"model": "a\0b"}, "model"),
    "no input": ({"input": None}, "input"),
    "an empty text": ({"input": ""}, "input"),
    "an empty list": ({"input": []}, "input"),
    "a number": ({"input": 3}, "input"),
    "a fraction": ({"input": 3.5}, "input"),
    "a truth": ({"input": True}, "input"),
    "an object": ({"input": {"text": "a"}}, "input"),
    "an empty text in a list": ({"input": ["a", ""]}, "input"),
    "null in a list": ({"input": ["a", None]}, "input"),
    "a truth in a list": ({"input": ["a", True]}, "input"),
    "an object in a list": ({"input": ["a", {}]}, "input"),
    "an object alone in a list": ({"input": [{"type": "text", "text": "a"}]}, "input"),
    "a number among texts": ({"input": ["a", 1]}, "input"),
    "a text among tokens": ({"input": [1, "a"]}, "input"),
    "a list among texts": ({"input": ["a", ["b"]]}, "input"),
    "texts in lists": ({"input": [["a"]]}, "input"),
    "a negative token": ({"input": [-1]}, "input"),
    "a fraction as token": ({"input": [1.5]}, "input"),
    "a truth as token": ({"input": [True]}, "input"),
    "null as token": ({"input": [None]}, "input"),
    "a huge token": ({"input": [2**63]}, "input"),
    "empty tokens": ({"input": [[]]}, "input"),
    "empty tokens among others": ({"input": [[1], []]}, "input"),
    "tokens of three levels": ({"input": [[[1]]]}, "input"),
    "a negative token in a list": ({"input": [[1, -1]]}, "input"),
    "too many texts": ({"input": ["a"] * 2049}, "input"),
    "too many lists of tokens": ({"input": [[1]] * 2049}, "input"),
    "an unknown encoding": ({"encoding_format": "hex"}, "encoding_format"),
    "an encoding in other case": ({"encoding_format": "Float"}, "encoding_format"),
    "an empty encoding": ({"encoding_format": ""}, "encoding_format"),
    "a number as encoding": ({"encoding_format": 1}, "encoding_format"),
    "a list as encoding": ({"encoding_format": ["float"]}, "encoding_format"),
    "a truth as encoding": ({"encoding_format": False}, "encoding_format"),
    "an object as encoding": ({"encoding_format": {"type": "float"}}, "encoding_format"),
    "no dimension": ({"dimensions": 0}, "dimensions"),
    "negative dimensions": ({"dimensions": -3}, "dimensions"),
    "half a dimension": ({"dimensions": 1.5}, "dimensions"),
    "dimensions as text": ({"dimensions": "64"}, "dimensions"),
    "dimensions in a list": ({"dimensions": [64]}, "dimensions"),
    "dimensions as truth": ({"dimensions": True}, "dimensions"),
    "an object as dimensions": ({"dimensions": {}}, "dimensions"),
    "too many dimensions": ({"dimensions": 10**9}, "dimensions"),
    "dimensions beyond 64 bits": ({"dimensions": 10**30}, "dimensions"),
    "a number as user": ({"user": 1}, "user"),
    "a list as user": ({"user": []}, "user"),
    "an object as user": ({"user": {}}, "user"),
    "a truth as user": ({"user": True}, "user"),
}
NO_JSON = (b"", b"{", b"[]", b"null", b'"text"', b"3", b'{"model": "m", "model": "n", "input": "a"}', b'{"input": NaN}')


@every("fields, place", WRONG.values())
def test_a_wrong_field_is_named(fields: dict[str, Any], place: str) -> None:  # G7
    with pytest.raises(InvalidField) as error:
        read(json.dumps({"model": "m", "input": "a"} | fields).encode())
    assert error.value.param == place


@every("body", [(body,) for body in NO_JSON])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidField):
        read(body)


@every(
    "given, inputs",
    [
        ("a", ("a",)),
        (["a", "b"], ("a", "b")),
        ([1, 2], ([1, 2],)),
        ([[1, 2], [3]], ([1, 2], [3])),
        (["a"] * 2048, ("a",) * 2048),
    ],
)
def test_the_inputs(given: Any, inputs: tuple[Any, ...]) -> None:
    assert read(orjson.dumps({"model": "m", "input": given})).inputs == inputs


async def post(program: Program, body: Any) -> Any:
    headers = {"Authorization": f"Bearer {program.key}"}
    return await AsyncClient().post(PATH, body, content_type="application/json", headers=headers)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["simulator", "openai"])
async def test_vectors_of_a_simulated_model(program: Program, knows: Knows, kind: str) -> None:  # G7
    await knows("sim-embed", kind)
    body = {"model": "BOX/Sim-Embed", "input": ["red apples", "red apples", "a distant star"], "dimensions": 32}
    reply = await post(program, body)
    found = reply.json()
    assert (found["object"], found["model"], found["usage"]["total_tokens"]) == ("list", "box/sim-embed", 7)
    assert reply.headers["X-Toolsupport-Model"] == "box/sim-embed" and reply.headers["X-Toolsupport-Answers-Limit"]
    assert [(one["object"], one["index"], len(one["embedding"])) for one in found["data"]] == [
        ("embedding", number, 32) for number in range(3)
    ]
    one, again, other = (one["embedding"] for one in found["data"])
    assert one == again != other
    packed = (await post(program, body | {"encoding_format": "base64"})).json()["data"][0]["embedding"]
    assert list(struct.unpack("<32f", b64decode(packed))) == pytest.approx(one)


@pytest.mark.asyncio
async def test_errors_have_the_status_of_their_cause(program: Program, knows: Knows) -> None:
    await knows("sim-embed")
    await knows("sim-honest")
    for body, status, code in (
        ({"model": "nothing", "input": "a"}, 404, "model_not_found"),
        ({"model": "sim-embed", "input": ""}, 400, None),
        ({"model": "sim-embed", "input": [1, 2]}, 400, None),  # Ollama reads texts only
        ({"model": "sim-honest", "input": "a"}, 400, "refused"),
    ):
        reply = await post(program, body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), reply.content
    refused = await program.ask("sim-embed", tools=[])
    assert refused.status_code == 400 and "chat" in refused.json()["error"]["message"]


@pytest.mark.asyncio
async def test_an_embedding_has_a_place_among_the_answers(
    program: Program, knows: Knows, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    await knows("sim-embed")
    key = await in_database(lambda: program.person.api_keys.get().pk)()
    settings.ENV = settings.ENV | {"TOOLSUPPORT_ANSWERS_PER_KEY": 1}
    caller = Caller(program.person.pk, key)
    places.take(caller)
    try:
        reply = await post(program, {"model": "sim-embed", "input": "a"})
    finally:
        places.leave(caller)
    assert (reply.status_code, reply.json()["error"]["code"]) == (429, "busy")
    assert (await post(program, {"model": "sim-embed", "input": "a"})).status_code == 200


def row(server: Scripted, kind: str) -> None:
    made = ServerFactory(name="made", kind=kind, base_url=f"http://127.0.0.1:{server.port}")
    ModelProfileFactory(server=made, name="e")


@pytest.mark.asyncio
async def test_what_a_server_is_asked_and_how_its_answers_are_read(program: Program) -> None:
    mixed = {"data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]}
    async with scripted(told(mixed), told({"data": []}), answer(500, b"{}"), answer(200, b"<html>")) as server:
        await in_database(row)(server, "vllm")
        reply = await post(program, {"model": "made/e", "input": [[1], [2, 3]], "dimensions": 1})
        assert [one["embedding"] for one in reply.json()["data"]] == [[1.0], [2.0]]
        assert reply.json()["usage"] is None
        assert server.bodies == [{"model": "e", "input": [[1], [2, 3]], "dimensions": 1}]
        for code in ("garbled", "server", "garbled"):
            reply = await post(program, {"model": "made/e", "input": "a"})
            assert (reply.status_code, reply.json()["error"]["code"]) == (502, code)

"""Programs get the reasoning of a model apart from its answer, no draft of a call, and no half call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database
from django.test import AsyncClient

from tests.toolsupport.gateway.conftest import FOLDER, Program, pieces
from tests.toolsupport.gateway.test_answer_runner import END, ENDED, HEAD, answering, called, said
from tests.toolsupport.providers.scripted import scripted
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import reasoning_starts

pytestmark = pytest.mark.asyncio
Knows = Callable[..., Any]


def learned(name: str) -> bool | None:
    return reasoning_starts.known(ModelProfile.objects.select_related("server").get(name=name))


@pytest.mark.parametrize("model", ["sim-thinks-aloud", "sim-thinks-inside"])
async def test_reasoning_is_no_content_and_a_draft_no_call(program: Program, knows: Knows, model: str) -> None:  # F3
    await knows(model, tools=False, format="hermes")
    for _ in range(2):
        [choice] = (await program.ask(model)).json()["choices"]
        [call] = choice["message"]["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {"path": "."}
        assert "think>" not in orjson.dumps(choice["message"].get("content")).decode()
        assert "considered" in choice["message"]["reasoning_content"]
    assert await in_database(learned)(model) is (model == "sim-thinks-inside")


async def test_a_stream_is_right_once_it_was_learned(program: Program, knows: Knows) -> None:
    await knows("sim-thinks-inside", tools=False, format="hermes")
    for known in (False, True):
        objects = pieces(await program.stream("sim-thinks-inside"))
        deltas = [piece["choices"][0]["delta"] for piece in objects]
        calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
        assert json.loads("".join(call["function"]["arguments"] for call in calls)) == {"path": "."}
        assert ("The person says" in "".join(delta.get("content", "") for delta in deltas)) is not known


@pytest.mark.parametrize("path", ["responses", "messages"])
async def test_a_first_answer_in_one_piece_has_no_reasoning_in_its_text(program: Program, path: str) -> None:
    fields = {"model": "made/m", "max_tokens": 99, "messages": [FOLDER], "input": "What's in this folder?"}
    del fields["input" if path == "messages" else "messages"]
    if path == "responses":
        del fields["max_tokens"]
    async with scripted([b""]) as server:
        await answering(server, [HEAD, said(delta={"content": "A thought.</think>An answer."}), ENDED, *END])
        headers = {"Authorization": f"Bearer {program.key}"}
        answer = await AsyncClient().post(f"/v1/{path}", fields, content_type="application/json", headers=headers)
    told = answer.json()
    blocks = told["content"] if path == "messages" else told["output"]
    assert [block["type"] for block in blocks][-1] in ("text", "message") and len(blocks) == 2, told
    assert "An answer." in json.dumps(blocks[-1]) and "A thought." not in json.dumps(blocks[-1])
    assert "A thought." in json.dumps(blocks[0])


@pytest.mark.parametrize("word", ["length", "max_tokens"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_cut_call_is_left_out_and_the_reason_is_told(program: Program, word: str, stream: bool) -> None:
    cut = [HEAD, said(delta={"content": "Hi"}), called('{"path": "', finish_reason=word), *END]
    async with scripted([b""]) as server:
        await answering(server, cut)
        if stream:
            text = "".join(await program.stream("made/m"))
            assert '"finish_reason":"length"' in text.replace(" ", "") and "tool_calls" not in text
        else:
            [choice] = (await program.ask("made/m")).json()["choices"]
            assert (choice["finish_reason"], choice["message"].get("tool_calls")) == ("length", None)
        assert len(server.requests) == 1


async def test_a_call_that_was_complete_before_the_cut_stays(program: Program) -> None:
    async with scripted([b""]) as server:
        await answering(server, [HEAD, called('{"path": "."}', finish_reason="length"), *END])
        [choice] = (await program.ask("made/m")).json()["choices"]
        assert choice["finish_reason"] == "tool_calls" and len(choice["message"]["tool_calls"]) == 1


async def test_a_mark_that_the_server_left_behind_is_not_shown(program: Program) -> None:
    thought = said(delta={"reasoning_content": "hm"})
    async with scripted([b""]) as server:
        await answering(
            server, [HEAD, thought, said(delta={"content": "</think>\n\nHi"}), said(finish_reason="stop"), *END]
        )
        [choice] = (await program.ask("made/m")).json()["choices"]
    assert (choice["message"]["content"], choice["message"]["reasoning_content"]) == ("Hi", "hm")

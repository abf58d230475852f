"""Arguments are sent while the model writes them only where what is sent cannot turn out to be wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tables import every
from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_answer_runner import END, ENDED, HEAD, RIGHT, answering, called
from tests.toolsupport.gateway.test_required_calls import ASKED, post
from tests.toolsupport.providers.scripted import scripted
from toolsupport.core.types import ToolSpec
from toolsupport.gateway import streamable_arguments

AUTO = {"/v1/chat/completions": "auto", "/v1/responses": "auto", "/v1/messages": {"type": "auto"}}
TEXT = {"type": "string"}
NOTE = {"type": "object", "properties": {"path": TEXT, "note": TEXT}, "required": ["path"]}


def tool(**rules: Any) -> dict[str, Any]:
    parameters = {**NOTE, "properties": {"path": {**TEXT, **rules}, "note": TEXT}}
    return {"type": "function", "function": {"name": "list_directory", "parameters": parameters}}


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize(
    ("wrong", "requests"),
    [
        ('{"path": null}', 2),
        ('{"pfad": "."}', 2),
        ("{}", 2),
        ('{"tag": "a", "pfad": "b"}', 2),
        ('{"path": 3}', 1),  # repaired
        ('{"path": ["."]}', 1),
    ],
)
async def test_no_part_of_a_call_that_does_not_fit_is_sent(
    program: Program, path: str, wrong: str, requests: int
) -> None:  # K3
    misfit = [HEAD, *map(called, [wrong[:5], wrong[5:]]), ENDED, *END]
    async with scripted([b""]) as server:
        await answering(server, misfit, [HEAD, RIGHT, ENDED, *END])
        answer = await post(program, path, **ASKED[path][0] | {"tool_choice": AUTO[path]}, model="made/m", stream=True)
        text = b"".join([piece async for piece in answer.streaming_content]).decode()
    assert len(server.requests) == requests
    assert not any(word in text for word in ("pfad", r"\": null", "event: error", "response.failed"))


@pytest.mark.asyncio
@pytest.mark.parametrize("rule", [{"pattern": "^/"}, {"enum": ["/a"]}, {"minLength": 2}, {"const": "/a"}])
async def test_a_text_that_may_break_a_rule_is_sent_when_it_is_whole(program: Program, rule: Any) -> None:  # K3
    right = [HEAD, called('{"path": "/a"}'), ENDED, *END]
    async with scripted([b""]) as server:
        await answering(server, [HEAD, RIGHT, ENDED, *END], right)
        text = "".join(await program.stream("made/m", tools=[tool(**rule)]))
    assert len(server.requests) == 2 and "error" not in text
    assert json.dumps('{"path":"/a"}') in text


@pytest.mark.asyncio
@pytest.mark.parametrize("note", ["null", "[null]"])
async def test_a_wrong_optional_argument_behind_what_was_sent_ends_the_stream(program: Program, note: str) -> None:
    async with scripted([b""]) as server:
        await answering(server, [HEAD, called('{"path": "."'), called(f', "note": {note}}}'), ENDED, *END])
        lines = await program.stream("made/m", tools=[tool()])
    assert lines[-2] == "event: error" and "[DONE]" not in "".join(lines)


WHOLE = '{"path": "/a folder"}'


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize(
    "pieces",
    [
        [WHOLE, WHOLE],
        [WHOLE, WHOLE.replace(" ", "")],
        [WHOLE[:12], WHOLE[12:], WHOLE],
        [WHOLE[:12], WHOLE[:16], WHOLE],
        [WHOLE[:12], WHOLE[:16], WHOLE, WHOLE],
    ],
)
async def test_arguments_that_a_server_sends_again_are_passed_on_once(
    program: Program, path: str, pieces: list[str]
) -> None:
    async with scripted([b""]) as server:
        await answering(server, [HEAD, *map(called, pieces), ENDED, *END])
        answer = await post(program, path, **ASKED[path][0] | {"tool_choice": AUTO[path]}, model="made/m", stream=True)
        text = b"".join([piece async for piece in answer.streaming_content]).decode()
    assert len(server.requests) == 1
    assert not any(word in text for word in ("event: error", "response.failed"))


@every(
    ("begun", "sure"),
    [
        ('{"path": "', True),
        (' {\n"path" :"a', True),
        ('{"note": "x", "path": "', True),
        ('{"note": "a \\" , \\"path\\": \\"", "path": "', True),
        ('{"path":', False),
        ('{"note": "path", ', False),
        ('{"note": "\\"path\\": \\"', False),
        ('{"path": ["', False),
        ('{"note": 3, "path": "', False),
        ('{"other": "a", "path": "', False),
        ('["path", "', False),
        ('{"note": "' + "x" * streamable_arguments.LONGEST + '", "path": "', False),
        ('{"note": "' + '\\"' * 1900 + "x", False),
    ],
)
def test_what_begins_so_fits(begun: str, sure: bool) -> None:
    assert streamable_arguments.are_sure(begun, ToolSpec("list_directory", "", NOTE)) is sure


@every(
    ("rules", "free"),
    [
        ({}, True),
        ({"additionalProperties": False, "title": "Note", "$defs": {"a": TEXT}, "description": "A note."}, True),
        ({"properties": {"path": TEXT | {"default": "."}}}, True),
        ({"properties": {"path": TEXT | {"pattern": "^/"}}}, False),
        ({"properties": {"path": {"$ref": "#/$defs/a"}}, "$defs": {"a": TEXT}}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": NOTE}}, False),
        ({"anyOf": [{"required": ["note"]}, {"required": ["path"]}]}, False),
        ({"oneOf": [{"required": ["note"]}, {"required": ["path"]}]}, False),
        ({"allOf": [{"properties": {"note": TEXT | {"minLength": 2}}}]}, False),
        ({"not": {"required": ["note"]}}, False),
        ({"if": {"required": ["path"]}, "then": {"required": ["note"]}}, False),
        ({"dependentRequired": {"path": ["note"]}}, False),
        ({"dependencies": {"path": ["note"]}}, False),
        ({"patternProperties": {"^p": TEXT | {"minLength": 2}}}, False),
        ({"propertyNames": {"maxLength": 3}}, False),
        ({"minProperties": 2}, False),
        ({"maxProperties": 1}, False),
    ],
)
def test_only_texts_without_any_rule_are_sent_while_they_are_written(rules: Any, free: bool) -> None:
    assert streamable_arguments.take_any_text(ToolSpec("list_directory", "", NOTE | rules)) is free

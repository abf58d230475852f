"""Calls of custom tools are given back as custom calls, whole and in streams, in every call format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import must_cost_at_most
from tests.toolsupport.gateway import test_required_calls
from tests.toolsupport.gateway.conftest import LIST, Program, pieces
from tests.toolsupport.gateway.test_answer_runner import END, ENDED, HEAD, answering, said
from tests.toolsupport.gateway.test_custom_tools import (
    ASKED,
    FLAT_GRAMMAR,
    FUNCTION,
    LARK,
    NAMED,
    NAMED_FLAT,
    NESTED_GRAMMAR,
    PATCH,
)
from tests.toolsupport.gateway.test_namespaces import space
from tests.toolsupport.gateway.test_required_calls import post
from tests.toolsupport.gateway.test_responses import events_of
from tests.toolsupport.gateway.test_shapes import check
from tests.toolsupport.providers.scripted import Scripted, scripted
from toolsupport.gateway.custom_tools import InputReader

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"


def called(arguments: str, **named: Any) -> bytes:
    function = {"name": "apply_patch", "arguments": arguments}
    return said(delta={"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function} | named]})


def answer_of(*arguments: str) -> list[bytes]:
    return [HEAD, *map(called, arguments), ENDED, *END]


WRITTEN = json.dumps({"input": PATCH})
BODIES: dict[str, dict[str, Any]] = {
    CHAT: {"messages": ASKED, "tools": [LIST, NESTED_GRAMMAR]},
    RESPONSES: {"input": ASKED, "tools": [FUNCTION, FLAT_GRAMMAR]},
}


async def streamed(program: Program, path: str, **more: Any) -> str:
    answer = await post(program, path, **BODIES[path] | {"model": "made/m", "stream": True} | more)
    assert answer.status_code == 200, answer.content
    return b"".join([piece async for piece in answer.streaming_content]).decode()


@pytest.mark.asyncio
async def test_a_call_is_given_back_as_a_custom_call(program: Program) -> None:
    async with scripted([b""]) as server:
        await answering(server, answer_of(WRITTEN))
        chat = await post(program, CHAT, **BODIES[CHAT], model="made/m")
        items = await post(program, RESPONSES, **BODIES[RESPONSES], model="made/m")
    [choice] = chat.json()["choices"]
    [call] = choice["message"]["tool_calls"]
    assert call == {"id": call["id"], "type": "custom", "custom": {"name": "apply_patch", "input": PATCH}}
    assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", None)
    [item] = items.json()["output"]
    assert item == {
        "id": item["id"],
        "type": "custom_tool_call",
        "status": "completed",
        "call_id": item["call_id"],
        "name": "apply_patch",
        "input": PATCH,
    }
    assert item["id"].startswith("ctc_") and item["call_id"].startswith("call_")
    assert chat.headers["X-Toolsupport-Tools-Skipped"] == items.headers["X-Toolsupport-Tools-Skipped"] == "grammar"
    check(chat.json(), "ChatCompletion")
    check(items.json(), "ResponsesResponse")
    for body in server.bodies:
        patch = next(one["function"] for one in body["tools"] if one["function"]["name"] == "apply_patch")
        assert LARK in patch["parameters"]["properties"]["input"]["description"]


CUTS = [
    [WRITTEN],
    [WRITTEN[:12], WRITTEN[12:]],
    [WRITTEN[:3], WRITTEN[3:20], WRITTEN[20:], ""],
    list(WRITTEN),
    [WRITTEN, WRITTEN],
    [json.dumps({"input": PATCH}, ensure_ascii=False)],
]


@pytest.mark.asyncio
@pytest.mark.parametrize("cut", range(len(CUTS)))
async def test_a_stream_of_chat_completions_holds_the_plain_text(program: Program, cut: int) -> None:
    async with scripted([b""]) as server:
        await answering(server, answer_of(*CUTS[cut]))
        found = pieces([line for line in (await streamed(program, CHAT)).split("\n") if line])
    for one in found:
        check(one, "ChatChunk")
    deltas = [one["choices"][0]["delta"] for one in found if one["choices"]]
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert {call["index"] for call in calls} == {0} and calls[0]["type"] == "custom" and calls[0]["id"]
    assert all("id" not in call and "type" not in call and "name" not in call["custom"] for call in calls[1:])
    assert calls[0]["custom"]["name"] == "apply_patch"
    assert "".join(call["custom"]["input"] for call in calls) == PATCH
    assert found[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert cut != 3 or len(calls) > len(PATCH) // 2, "it is sent while it is written"


@pytest.mark.asyncio
@pytest.mark.parametrize("cut", range(len(CUTS)))
async def test_a_stream_of_responses_has_the_events_of_custom_calls(program: Program, cut: int) -> None:
    async with scripted([b""]) as server:
        await answering(server, answer_of(*CUTS[cut]))
        found = events_of(await streamed(program, RESPONSES))
    for one in found:
        check(one, "ResponsesEvent")
    assert [one["sequence_number"] for one in found] == list(range(len(found)))
    kinds = [one["type"].removeprefix("response.") for one in found]
    deltas = [one for one in found if one["type"].endswith("input.delta")]
    assert kinds == [
        *("created", "in_progress", "output_item.added"),
        *["custom_tool_call_input.delta"] * len(deltas),
        *("custom_tool_call_input.done", "output_item.done", "completed"),
    ]
    added, done, whole = found[2]["item"], found[-3], found[-2]["item"]
    assert "".join(one["delta"] for one in deltas) == done["input"] == whole["input"] == PATCH
    assert added == whole | {"status": "in_progress", "input": ""}
    assert {(one["item_id"], one["output_index"]) for one in (*deltas, done)} == {(added["id"], 0)}
    assert found[-1]["response"]["output"] == [whole]
    assert cut != 3 or len(deltas) > len(PATCH) // 2, "it is sent while it is written"


@pytest.mark.asyncio
async def test_calls_of_both_kinds_keep_their_order(program: Program) -> None:
    listing = {"index": 1, "id": "c2", "function": {"name": "list_directory", "arguments": '{"path":"."}'}}
    empty = {"index": 2, "id": "c3", "function": {"name": "apply_patch", "arguments": '{"input":""}'}}
    answers = [HEAD, said(delta={"content": "So."}), called(WRITTEN), called("", **listing), called("", **empty)]
    async with scripted([b""]) as server:
        await answering(server, [*answers, ENDED, *END])
        chunks = pieces([line for line in (await streamed(program, CHAT)).split("\n") if line])
        events = events_of(await streamed(program, RESPONSES))
        whole = (await post(program, CHAT, **BODIES[CHAT], model="made/m")).json()["choices"][0]["message"]
    kinds = ["custom", "function", "custom"]
    assert [call["type"] for call in whole["tool_calls"]] == kinds
    made = [call for one in chunks for call in one["choices"][0]["delta"].get("tool_calls", ())]
    begun = [call for call in made if "id" in call]
    assert [call["type"] for call in begun] == kinds and [call["index"] for call in begun] == [0, 1, 2]
    items = [one["item"] for one in events if one["type"] == "response.output_item.done"]
    assert [one["type"] for one in items] == ["message", "custom_tool_call", "function_call", "custom_tool_call"]
    assert items[3]["input"] == whole["tool_calls"][2]["custom"]["input"] == ""
    places = [one["output_index"] for one in events if "output_index" in one]
    assert places == sorted(places) and events[-1]["response"]["output"] == items


@pytest.mark.asyncio
async def test_a_call_of_a_namespace_comes_back_with_it(program: Program) -> None:
    made = {"function": {"name": "edit__apply_patch", "arguments": WRITTEN}}
    async with scripted([b""]) as server:
        await answering(server, [HEAD, called("", **made), ENDED, *END])
        events = events_of(await streamed(program, RESPONSES, tools=[space("edit", FLAT_GRAMMAR)]))
    items = [one["item"] for one in events if "item" in one] + events[-1]["response"]["output"]
    assert [(one["name"], one["namespace"], one["input"]) for one in items] == [
        ("apply_patch", "edit", ""),
        *[("apply_patch", "edit", PATCH)] * 2,
    ]


# Arguments of a native call → the text that they mean.
MEANT: dict[str, tuple[str, str]] = {
    "another key": (json.dumps({"patch": PATCH}), PATCH),
    "a key in another case": (json.dumps({"Input": PATCH}), PATCH),
    "a wrapper": (json.dumps({"arguments": {"input": PATCH}}), PATCH),
    "written as JSON twice": (json.dumps(WRITTEN), PATCH),
    "a text in JSON": (json.dumps(PATCH), PATCH),
    "the text itself": (PATCH, PATCH),
    "a number": (json.dumps({"input": 3}), "3"),
    "words before a bracket": ("x = {1}", "x = {1}"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("case", MEANT)
async def test_a_text_that_is_certain_is_taken(program: Program, case: str) -> None:
    written, meant = MEANT[case]
    async with scripted([b""]) as server:
        await answering(server, answer_of(written))
        answer = await post(program, CHAT, **BODIES[CHAT], model="made/m")
        found = pieces([line for line in (await streamed(program, CHAT)).split("\n") if line])
    body = answer.json()
    [call] = body["choices"][0]["message"]["tool_calls"]
    assert call["custom"]["input"] == meant and len(server.requests) == 2
    assert body["x_toolsupport"]["repairs"], "each change is named"
    calls = [call for one in found for call in one["choices"][0]["delta"].get("tool_calls", ())]
    assert "".join(call["custom"]["input"] for call in calls) == meant


UNCERTAIN = {
    "nothing": "{}",
    "no text": '{"input": null}',
    "two keys": json.dumps({"patch": PATCH, "path": "a"}),
    "a second key": json.dumps({"input": PATCH, "path": "a"}),
    "an object under another key": '{"patch": {"a": "b"}}',
    "a number under another key": '{"line": 3}',
    "a list": '["a", "b"]',
    "broken JSON": '{"input": "a" "b"',
    "a broken text": '"*** Begin',
}


@pytest.mark.asyncio
@pytest.mark.parametrize("case", UNCERTAIN)
async def test_a_text_that_is_not_certain_is_never_made_up(program: Program, case: str) -> None:
    async with scripted([b""]) as server:
        await answering(server, answer_of(UNCERTAIN[case]), answer_of(WRITTEN))
        answer = await post(program, CHAT, **BODIES[CHAT], model="made/m")
    assert len(server.requests) == 2
    [call] = answer.json()["choices"][0]["message"]["tool_calls"]
    assert call["custom"]["input"] == PATCH


@pytest.mark.asyncio
@pytest.mark.parametrize("path", BODIES)
async def test_a_required_call_that_never_fits_is_a_422(program: Program, path: str) -> None:
    choice = NAMED if path == CHAT else NAMED_FLAT
    async with scripted([b""]) as server:
        await answering(server, answer_of("{}"))
        answer = await post(program, path, **BODIES[path], model="made/m", tool_choice=choice)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "tool_choice_not_met")


@pytest.mark.asyncio
@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("behind", ['", "path": "a"}', '\\ud83d"}'])
async def test_a_fault_behind_what_was_sent_ends_the_stream(program: Program, path: str, behind: str) -> None:
    async with scripted([b""]) as server:
        await answering(server, answer_of('{"input": "abc', behind))
        text = await streamed(program, path)
    assert "event: error" in text or "response.failed" in text
    assert "[DONE]" not in text and "response.completed" not in text


@pytest.mark.asyncio
async def test_a_call_that_a_limit_cut_is_incomplete(program: Program) -> None:
    async with scripted([b""]) as server:
        await answering(server, [HEAD, called('{"input": "abc'), said(finish_reason="length"), *END])
        events = events_of(await streamed(program, RESPONSES))
    [item] = events[-1]["response"]["output"]
    assert (item["type"], item["status"], item["input"]) == ("custom_tool_call", "incomplete", "abc")
    assert events[-1]["type"] == "response.incomplete"


async def in_hermes(server: Scripted, *replies: str) -> None:
    await in_database(test_required_calls.row)(server, "vllm", tools=False, format="hermes")
    server.answers[:] = [[HEAD, said(delta={"content": text}), ENDED, *END] for text in replies]


IN_TEXT = {
    "an object": {"name": "apply_patch", "arguments": {"input": PATCH}},
    "the text alone": {"name": "apply_patch", "arguments": PATCH},
    "the text beside the name": {"name": "apply_patch", "input": PATCH},
    "another key": {"name": "apply_patch", "arguments": {"patch": PATCH}},
}


@pytest.mark.asyncio
@pytest.mark.parametrize("case", IN_TEXT)
async def test_a_call_in_text_is_given_back_as_a_custom_call(program: Program, case: str) -> None:
    async with scripted([b""]) as server:
        await in_hermes(server, f"<tool_call>\n{json.dumps(IN_TEXT[case])}\n</tool_call>")
        whole = await post(program, RESPONSES, **BODIES[RESPONSES], model="made/m")
        found = pieces([line for line in (await streamed(program, CHAT)).split("\n") if line])
    assert whole.headers["X-Toolsupport-Format"] == "hermes" and len(server.requests) == 2
    assert (whole.json()["output"][-1]["type"], whole.json()["output"][-1]["input"]) == ("custom_tool_call", PATCH)
    calls = [call for one in found for call in one["choices"][0]["delta"].get("tool_calls", ())]
    assert "".join(call["custom"]["input"] for call in calls) == PATCH


@pytest.mark.asyncio
@pytest.mark.parametrize("arguments", ['["a", "b"]', '"{\\"input\\": }"', '"[a"', "{}"])
async def test_broken_text_of_a_format_is_never_the_input(program: Program, arguments: str) -> None:
    broken = f'<tool_call>\n{{"name": "apply_patch", "arguments": {arguments}}}\n</tool_call>'
    right = f"<tool_call>\n{json.dumps(IN_TEXT['an object'])}\n</tool_call>"
    async with scripted([b""]) as server:
        await in_hermes(server, broken, right)
        whole = await post(program, RESPONSES, **BODIES[RESPONSES], model="made/m")
    assert whole.json()["output"][-1].get("input") == PATCH and len(server.requests) == 2


@pytest.mark.asyncio
async def test_a_conversation_goes_on_with_its_custom_calls(program: Program) -> None:
    """The model gets its call back as it made it, however the program was given it."""
    async with scripted([b""]) as server:
        await answering(server, answer_of(WRITTEN), [HEAD, said(delta={"content": "Done."}), ENDED, *END])
        first = (await post(program, RESPONSES, **BODIES[RESPONSES], model="made/m")).json()["output"]
        result = {"type": "custom_tool_call_output", "call_id": first[0]["call_id"], "output": "Changed."}
        body = BODIES[RESPONSES] | {"input": [*ASKED, *first, result]}
        last = await post(program, RESPONSES, **body, model="made/m")
    [answer, told] = server.bodies[1]["messages"][-2:]
    [call] = answer["tool_calls"]
    assert (call["type"], call["function"]["name"]) == ("function", "apply_patch")
    assert json.loads(call["function"]["arguments"]) == {"input": PATCH}
    assert (told["tool_call_id"], told["content"]) == (call["id"], "Changed.")
    assert last.json()["output"][0]["content"][0]["text"] == "Done."


@given(st.text(), st.booleans(), st.data())
def test_the_text_is_read_alike_however_its_json_is_split(text: str, ascii_only: bool, data: st.DataObject) -> None:
    written = json.dumps({"input": text}, ensure_ascii=ascii_only)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=6)))
    reader = InputReader()
    parts = [written[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(written)], strict=True)]
    assert "".join(map(reader.read, parts)) == text


def test_reading_takes_linear_time() -> None:
    with must_cost_at_most(3.0):
        for endless in ("\\x", "\\ud83d", "a\\n", " ", '{"a'):
            inside, before = InputReader(), InputReader()
            inside.read('{"input": "')
            for _ in range(20_000):
                inside.read(endless * 50)
                before.read(endless * 50)

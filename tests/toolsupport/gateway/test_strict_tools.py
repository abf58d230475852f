"""`strict` of a tool goes to the kinds of servers that have it, and to no other; never beside a schema of ours."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database

from tests.serving import ROOT
from tests.toolsupport.gateway.conftest import LIST, PATH, Program
from tests.toolsupport.gateway.test_constrained import calls_in, native, row, says
from tests.toolsupport.providers.scripted import HEAD, LAST_CHUNK, Step, chunk, scripted
from toolsupport.providers import PROVIDERS

# Kind → its words in the guide: what a program demands is passed on, or it is also set where schemas are enforced.
STRICT = {
    **dict.fromkeys(("ollama", "simulator"), "never sent"),
    **dict.fromkeys(("vllm", "sglang"), "sent and set"),
    "openai.com": "sent",
    **dict.fromkeys(("llamacpp", "lmstudio", "localai", "openai"), "not sent"),
    **dict.fromkeys(("openrouter", "groq", "mistral", "gemini", "deepseek"), "not sent"),
}
DEMANDED = {"type": "function", "function": {"name": "list_directory", "parameters": PATH, "strict": True}}


def of_ollama(message: dict[str, Any]) -> list[Step]:
    line = {"message": {"role": "assistant", "content": "", **message}, "done": True, "done_reason": "stop"}
    return [HEAD, chunk(orjson.dumps(line) + b"\n"), LAST_CHUNK]


def called(kind: str, arguments: str) -> list[Step]:
    """A native call, as this kind of server sends it."""
    if PROVIDERS[kind].wire == "openai":
        return native(arguments)
    return of_ollama({"tool_calls": [{"function": {"name": "list_directory", "arguments": orjson.loads(arguments)}}]})


def forced(kind: str) -> list[Step]:
    text = '{"tool": "list_directory", "arguments": {"path": "."}}'
    return says({"content": text}) if PROVIDERS[kind].wire == "openai" else of_ollama({"content": text})


async def bodies(
    program: Program, kind: str, tool: dict[str, Any], *answers: list[Step], **known: Any
) -> list[dict[str, Any]]:
    """The bodies of the requests for one answer."""
    async with scripted(*answers or [called(kind, '{"path": "."}')]) as server:
        await in_database(row)(server, kind, {"tools": True, **known})
        answer = await program.ask("made/m", tools=[tool])
        assert calls_in(answer) == [{"path": "."}]
        return server.bodies


def strict_in(body: dict[str, Any]) -> Any:
    return body["tools"][0]["function"].get("strict")


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", sorted(PROVIDERS))
async def test_strict_is_sent_where_its_table_says_so(program: Program, kind: str) -> None:  # K5
    [demanded] = await bodies(program, kind, DEMANDED)
    assert strict_in(demanded) is (True if STRICT[kind] in ("sent", "sent and set") else None)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", sorted(PROVIDERS))
@pytest.mark.parametrize("value", ["enforced", "accepted"])
async def test_strict_is_set_only_where_schemas_are_enforced(program: Program, kind: str, value: str) -> None:  # K5
    [first] = await bodies(program, kind, LIST, constrains=value)
    is_set = STRICT[kind] == "sent and set" and value == "enforced"
    assert strict_in(first) is (True if is_set else None)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", sorted(PROVIDERS))
async def test_no_request_has_both_tools_and_a_schema(program: Program, kind: str) -> None:  # K6
    answers = called(kind, '{"way": []}'), forced(kind)
    first, second = await bodies(program, kind, DEMANDED, *answers, constrains="enforced")
    schema = second.pop("format", None) or second.pop("response_format", None)
    assert "tools" in first and not {"format", "response_format"} & set(first)
    assert "tools" not in second and bool(schema) is bool(PROVIDERS[kind].constrains)
    assert b'"strict"' not in orjson.dumps(second)


def test_the_guide_has_the_same_table() -> None:
    text = (ROOT / "docs" / "constrained_decoding.md").read_text()
    rows = [
        line.split("|") for line in text[text.index("| kind | a required") :].splitlines() if line.startswith("| `")
    ]
    written = {kind: cells[3].strip() for cells in rows for kind in re.findall(r"`([\w.]+)`", cells[1])}
    assert written == STRICT and set(STRICT) == set(PROVIDERS)

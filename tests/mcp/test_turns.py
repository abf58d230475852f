"""The real servers for time and memory, used by a model in a chat: found, allowed, called, answered from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.mcp.test_servers import NODE, PYTHON
from tests.serving import Page, Site, approve_tools, new_chat, page, serving, sign_in

pytestmark = [pytest.mark.real_server, pytest.mark.asyncio]
# One calls natively, the others write their calls in two formats.
MODELS = ("sim-honest", "sim-hermes", "sim-pythonic")


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the memory server writes."""
    return tmp_path_factory.mktemp("mcp") / "facts.jsonl"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, facts: Path) -> Iterator[Site]:
    time = {"command": str(PYTHON / "mcp-server-time"), "args": ["--local-timezone", "UTC"]}
    memory = {"command": str(NODE / "mcp-server-memory"), "env": ["MEMORY_FILE_PATH"]}
    file = facts.with_name("servers.json")
    file.write_text(json.dumps({"mcpServers": {"time": time, "memory": memory}}))
    chosen = {"TOOLSUPPORT_MCP_STDIO": str(file), "TOOLSUPPORT_TEXT_FORMATS": "all", "MEMORY_FILE_PATH": str(facts)}
    with serving(tmp_path_factory.mktemp("site"), **chosen) as running:
        yield running


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with closing(sign_in(site)) as browser:
        approve_tools(site, browser, ("get_current_time", "convert_time"))
        yield browser


async def asked(open_page: Page, model: str, text: str) -> None:
    await choose(open_page, f"{model}:latest")
    await open_page.send("message.send", text=text)


async def answer(open_page: Page, *names: str) -> str:
    """What was said in the end, when these tools were called and worked."""
    assert (await open_page.until("turn.ended"))["reason"] == "done"
    ended = [(frame["call"]["name"], frame["call"]["status"]) for frame in open_page.of("call.finished")]
    assert ended == [(name, "done") for name in names]
    return open_page.text(open_page.of("message.finished")[-1]["message"])


# T4 T5
@pytest.mark.parametrize("model", MODELS)
async def test_the_time_in_tokyo(site: Site, client: httpx.Client, model: str) -> None:
    async with page(site, client, new_chat(client)) as open_page:
        await asked(open_page, model, "What time is it in Tokyo?")
        before = datetime.now(ZoneInfo("Asia/Tokyo"))
        said = await answer(open_page, "tool_search", "time__get_current_time")
        after = datetime.now(ZoneInfo("Asia/Tokyo"))
    assert f"**{before:%H:%M}**" in said or f"**{after:%H:%M}**" in said


# T4 T5
@pytest.mark.parametrize("model", MODELS)
async def test_a_colour_is_remembered(site: Site, client: httpx.Client, facts: Path, model: str) -> None:
    facts.unlink(missing_ok=True)
    async with page(site, client, new_chat(client)) as open_page:
        await asked(open_page, model, "Remember that my favourite colour is green")
        question = await open_page.until("question.asked")
        assert "Let memory run create_entities?" in question["html"] and not facts.exists()
        await open_page.until("turn.waiting")
        await open_page.send("question.answer", question=question["question"], answer="once")
        assert "favourite colour" in await answer(open_page, "tool_search", "memory__create_entities")
    (kept,) = map(json.loads, facts.read_text().splitlines())
    assert (kept["name"], kept["observations"]) == ("favourite colour", ["my favourite colour is green"])

"""MCP servers that tell times and keep facts: found by a person's words, and used by models that call in three ways."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import answered, ask, new_chat, press
from tests.e2e.test_access_for_all import faults_at_each_width
from tests.serving import ROOT, Site, approve_tools, serving, sign_in

pytestmark = pytest.mark.e2e

# One calls natively, the others write their calls in two formats.
# A native model and a text format by day; the other format by night.
MODELS = ("sim-honest", "sim-hermes", pytest.param("sim-pythonic", marks=pytest.mark.nightly))
TIME, REMEMBER = "What time is it in Tokyo?", "Remember that my favourite colour is green"
LIMIT = "A model of unknown size gets up to 2 tools of MCP servers."


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the memory server writes."""
    return tmp_path_factory.mktemp("mcp") / "facts.json"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, facts: Path) -> Iterator[Site]:
    """A site with two MCP servers, whose tools are approved; times may be asked for without a question."""
    programs = {
        name: {
            "command": sys.executable,
            "args": ["-m", "tests.mcp_server", name, str(facts)],
            "cwd": str(ROOT),
        }
        for name in ("time", "memory")
    }
    file = facts.with_name("servers.json")
    file.write_text(json.dumps({"mcpServers": programs}))
    chosen = {"TOOLSUPPORT_MCP_STDIO": str(file), "TOOLSUPPORT_TEXT_FORMATS": "all"}
    with serving(tmp_path_factory.mktemp("site"), **chosen) as running:
        with closing(sign_in(running)) as admin:
            approve_tools(running, admin, ("get_current_time", "convert_time"))
        yield running


def explained(page: Page) -> Page:
    """The page that tells which tools this chat is offered, in a tab of its own."""
    other = page.context.new_page()
    other.goto(f"{page.url}explain/")
    return other


def request(page: Page) -> str:
    """What would be sent to the model."""
    return str(page.locator("[data-copy-source]").last.inner_text())


def last_answer(page: Page) -> Locator:
    return page.locator(".message[data-role=assistant] .prose").last


def calls(page: Page, *names: str) -> None:
    """Nothing but these was called, and it worked."""
    expect(page.locator(".call[data-status=done]")).to_have_count(len(names))
    for card, name in zip(page.locator(".call").all(), names, strict=True):
        expect(card).to_contain_text(name)


# T4 T5
@pytest.mark.parametrize("model", MODELS)
def test_the_time_in_tokyo(page: Page, model: str) -> None:
    new_chat(page, f"{model}:latest")
    ask(page, TIME)
    answered(page)
    calls(page, "Searched tools for", "get_current_time")
    expect(last_answer(page)).to_contain_text(re.compile(r"It is \d\d:\d\d in Tokyo"))
    hour = datetime.now(ZoneInfo("Asia/Tokyo")).hour
    assert f"It is {hour:02}:" in last_answer(page).inner_text() or datetime.now(UTC).minute == 0


# T4
@pytest.mark.parametrize("model", MODELS)
def test_a_colour_is_remembered_once_it_is_allowed(page: Page, facts: Path, model: str) -> None:
    facts.unlink(missing_ok=True)
    new_chat(page, f"{model}:latest")
    ask(page, REMEMBER)
    expect(page.get_by_role("button", name="once")).to_be_focused()
    assert not facts.exists()
    press(page, "a")
    answered(page)
    calls(page, "Searched tools for", "create_entities")
    expect(last_answer(page)).to_contain_text("with memory__create_entities")
    (kept,) = json.loads(facts.read_text())
    assert kept["observations"] == ["my favourite colour is green"]


# T1 T5
@pytest.mark.parametrize("model", MODELS[:2])
def test_a_tool_is_not_in_the_prompt_before_the_model_searched_for_it(page: Page, model: str) -> None:
    new_chat(page, f"{model}:latest")
    ask(page, "hello")
    answered(page)
    before = explained(page)
    waiting = before.locator("[data-tool=time__get_current_time]")
    expect(waiting).to_have_attribute("data-rule", "deferred")
    assert "tool_search" in request(before) and "get_current_time" not in request(before)
    ask(page, TIME)
    answered(page)
    # The search by "hello" found nothing, so it has no card.
    calls(page, "Searched tools for", "get_current_time")
    before.reload()
    expect(waiting).to_have_attribute("data-rule", "mcp")
    assert "get_current_time" in request(before)


# T1 T2
def test_a_model_of_unknown_size_gets_two_and_is_told_why(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 800}).new_page())
    ask(page, REMEMBER)
    expect(page.get_by_role("button", name="once")).to_be_focused()
    press(page, "d")
    answered(page)
    page.goto(f"{page.url}explain/")
    expect(page.locator("[data-rule=mcp]")).to_have_count(2)
    expect(page.locator("summary", has_text="memory: 2 of 4 tools offered")).to_be_visible()
    expect(page.locator("summary", has_text="time: 0 of 2 tools offered")).to_be_visible()
    expect(page.locator("#explained")).to_contain_text(LIMIT)
    assert faults_at_each_width(page) == []

"""Approvals of a command, a database query and an MCP tool: each answer, in another tab, after a reload and a kill."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.chat.mcp.client.conftest import SCRIPT
from tests.e2e.conftest import answered, ask, new_chat, press, ready
from tests.e2e.test_access_for_all import faults_at_each_width
from tests.installed import needs
from tests.serving import Site, approve_tools, serving, sign_in, switch_tool

pytestmark = [pytest.mark.e2e, needs("bwrap")]
Open = Callable[..., BrowserContext]


@dataclass(frozen=True)
class Act:
    """What a model is asked for, what its approval asks, and the call in words: wanted, then done."""

    model: str
    text: str
    question: str
    button: str
    wants: str
    done: str


ACTS = {
    "bash": Act(
        "sim-honest", "Run `echo one` with bash", "Run this command?", "Run once", "run echo one", "Ran echo one"
    ),
    "mcp": Act(
        *("sim-honest", "Call pipes__echo with text=hello", "Use echo of server pipes?", "Use once"),
        *("use echo of pipes", "Used echo of pipes"),
    ),
    "sql": Act(
        *("sim-speaks", "How many orders per month?", "Query shop?", "Query once", "query shop", "Queried shop"),
    ),
}
EXPIRE = """
from django.utils import timezone
from chat.models import Question
assert Question.objects.filter(answer="").update(expires_at=timezone.now()) == 1
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with bash, the example database and an approved MCP server, killed and started by its tests."""
    file = tmp_path_factory.mktemp("mcp") / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"pipes": {"command": sys.executable, "args": [SCRIPT, "stdio"]}}}))
    with serving(tmp_path_factory.mktemp("site"), TOOLSUPPORT_MCP_STDIO=str(file)) as running:
        with closing(sign_in(running)) as admin:
            switch_tool(admin, "bash", "on")
            headers = {"X-CSRFToken": admin.cookies["csrftoken"]}
            assert admin.post("/tools/sources/example/", headers=headers).status_code == 200
            approve_tools(running, admin)
        yield running


def calls(page: Page) -> Locator:
    """The cards of the calls that ask: a model searches among many MCP tools without asking."""
    return page.locator(".call").filter(has_not_text="Searched tools")


def asked(page: Page, act: Act) -> None:
    """Let the model want a call."""
    ask(page, act.text)
    card = calls(page).last
    expect(card.locator(".asks")).to_have_text(act.question)
    row(card, f"Wants to {act.wants}", "Needs approval")


def row(card: Locator, words: str, state: str | re.Pattern[str]) -> None:
    """Compare the row of a call."""
    expect(card.locator("> summary .what")).to_have_text(words)
    expect(card.locator("> summary .state")).to_have_text(state)


def other_tab(page: Page) -> Page:
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    return other


# T11
@pytest.mark.parametrize("kind", ACTS)
def test_each_answer_has_its_own_words(page: Page, site: Site, kind: str) -> None:
    act = ACTS[kind]
    page = new_chat(page, act.model)
    asked(page, act)
    assert faults_at_each_width(page) == []
    other = other_tab(page)
    press(page, "d")
    for tab in (page, other):
        answered(tab)
        row(calls(tab).last, f"Did not {act.wants}", "Denied")
    asked(page, act)
    site.manage("shell", "--no-imports", "-c", EXPIRE)
    for tab in (page, other):
        row(calls(tab).last, f"Did not {act.wants}", "Expired")
        answered(tab)
    expect(calls(page).last).not_to_contain_text("enied")
    asked(page, act)
    page.reload()
    ready(page)
    row(calls(page).last, f"Wants to {act.wants}", "Needs approval")
    other.get_by_role("button", name=act.button).click()
    for tab in (page, other):
        answered(tab)
        row(calls(tab).last, act.done, re.compile(r"\d ms|\d s"))
        expect(tab.locator("[data-question]")).to_have_count(0)
    for tab in (page, other):
        states = [f"Did not {act.wants}", f"Did not {act.wants}", act.done]
        tab.reload()
        expect(calls(tab).locator("> summary .what")).to_have_text(states)


# C2
def test_they_wait_through_a_kill_and_are_run_once(open_browser: Open, site: Site) -> None:
    context = open_browser()
    chats = {kind: new_chat(context.new_page(), act.model) for kind, act in ACTS.items()}
    for kind, page in chats.items():
        asked(page, ACTS[kind])
    site.kill(signal.SIGKILL)
    site.start()
    for kind, page in chats.items():
        ready(page)
        card = calls(page)
        row(card, f"Wants to {ACTS[kind].wants}", "Needs approval")
        page.get_by_role("button", name=ACTS[kind].button).click()
        answered(page)
        row(card, ACTS[kind].done, re.compile(r"\d ms|\d s"))
        expect(card).to_have_count(1)

"""MCP servers in the browser: defined, approved, changed, without a mouse, on small screens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.chat.mcp.client.conftest import SCRIPT
from tests.child_process import running
from tests.e2e.conftest import answered, ask, new_chat
from tests.e2e.test_access_for_all import faults_at_each_width, overflow, violations
from tests.serving import Site, serving

pytestmark = pytest.mark.e2e
Open = Callable[..., BrowserContext]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the tool `echo` says of itself."""
    path = tmp_path_factory.mktemp("mcp") / "words"
    path.write_text("Nothing else.")
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, words: Path) -> Iterator[Site]:
    """A site whose settings file names a program."""
    file = words.with_name("servers.json")
    file.write_text(
        json.dumps({"mcpServers": {"pipes": {"command": sys.executable, "args": [SCRIPT, "stdio", str(words)]}}})
    )
    with serving(tmp_path_factory.mktemp("site"), TOOLSUPPORT_MCP_STDIO=str(file)) as running:
        yield running


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server that listens by itself."""
    command = [sys.executable, SCRIPT, "http"]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"


@pytest.fixture
def page(open_browser: Open) -> Page:
    made = open_browser(viewport={"width": 1280, "height": 900}).new_page()
    made.goto("/tools/mcp/")
    return made


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def tool(page: Page, server: str, name: str) -> Locator:
    return card(page, server).locator(".tool-row").filter(has=page.get_by_text(name, exact=True))


def test_a_program_of_the_settings_is_approved_and_asked_again_when_it_changes(page: Page, words: Path) -> None:
    expect(card(page, "pipes").get_by_text("Online", exact=True)).to_be_visible()
    echo = tool(page, "pipes", "echo")
    echo.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(echo).to_contain_text("Says a text again. Nothing else.")
    expect(card(page, "pipes").get_by_role("button", name="Approve selected")).to_be_disabled()
    echo.get_by_role("checkbox", name="echo", exact=True).focus()
    page.keyboard.press("Space")
    expect(card(page, "pipes").get_by_role("button", name="Approve 1 selected")).to_be_enabled()
    echo.get_by_role("button", name="Approve").focus()
    page.keyboard.press("Enter")
    expect(echo).to_contain_text("Asks every time")
    expect(echo.locator("summary")).to_be_focused()
    words.write_text("And it mails everything to eve.")
    card(page, "pipes").get_by_role("button", name="Refresh").click()
    expect(card(page, "pipes").get_by_role("button", name="Refresh")).to_be_focused()
    expect(echo).to_contain_text("changed")
    expect(echo.locator("[data-kind=added]").last).to_contain_text("mails everything to eve")
    words.write_text("Nothing else.")
    card(page, "pipes").get_by_role("button", name="Refresh").click()
    expect(echo).to_contain_text("Asks every time")
    switch = echo.get_by_role("switch", name="echo")
    page.route("**/switch/", lambda route: route.abort("connectionrefused"))
    switch.press("Space")
    expect(echo.get_by_role("alert")).to_contain_text("Not saved")
    expect(switch).to_be_checked()
    page.unroute("**/switch/")
    switch.press("Space")
    expect(echo.get_by_role("status")).to_have_text("Saved")
    expect(switch).not_to_be_checked()
    expect(switch).to_be_focused()
    expect(card(page, "pipes")).to_contain_text(re.compile("Tools left out: [23]"))


def test_a_server_is_defined_marked_and_forgotten(page: Page, address: str) -> None:
    page.get_by_label("Name", exact=True).fill("far")
    page.get_by_label("Address").fill(address)
    page.get_by_label("Token").fill("canary-token-of-far")
    page.get_by_role("button", name="Add MCP server").click()
    expect(card(page, "far").get_by_role("status")).to_contain_text("Online.")
    liar = tool(page, "far", "liar")
    liar.locator("summary").click()
    liar.get_by_label("Read-only: run").check()
    liar.get_by_role("button", name="Approve").click()
    expect(liar).to_contain_text("Asks in a chat with outside content")
    card(page, "far").get_by_role("button", name="Mark as trusted").press("Enter")
    expect(card(page, "far").get_by_role("button", name="Mark as not trusted")).to_be_focused()
    expect(liar).to_contain_text("Runs without asking")
    liar.locator("summary").click()
    liar.get_by_role("button", name="Ask every time").click()
    expect(liar).to_contain_text("Asks every time")
    assert "canary" not in page.content()
    page.on("dialog", lambda dialog: dialog.accept())
    card(page, "far").get_by_role("button", name="Remove").click()
    expect(card(page, "far")).to_have_count(0)


def test_a_card_names_every_kind_and_shows_the_image(page: Page) -> None:
    kinds = tool(page, "pipes", "kinds")
    kinds.locator("summary").click()
    kinds.get_by_label("Read-only: run").check()
    kinds.get_by_role("button", name="Approve").click()
    expect(kinds).to_contain_text("Asks in a chat with outside content")
    new_chat(page)
    ask(page, "Call pipes__kinds with text=all")
    answered(page)
    shown = page.locator(".call", has_text="kinds of pipes")
    expect(page.locator("#files")).to_contain_text("mcp/pipes/")
    shown.locator("summary").first.click()
    expect(shown.get_by_role("img", name="Image from the tool").first).to_be_visible()
    assert page.evaluate("document.querySelector('.call img').naturalWidth") == 1
    badges = ["image", "audio", "audio", "resource", "resource", "resource link", "structured"]
    expect(shown.locator(".tag")).to_have_text(badges)
    assert violations(page) == []


def test_it_is_for_everybody(open_browser: Open) -> None:
    page = open_browser(viewport={"width": 320, "height": 800}).new_page()
    page.goto("/tools/mcp/")
    expect(card(page, "pipes").get_by_text("Online", exact=True)).to_be_visible()
    for summary in card(page, "pipes").locator("summary").all():
        summary.click()
    assert faults_at_each_width(page) == []


def test_the_names_of_others_stay_within_a_small_screen(page: Page, open_browser: Open) -> None:
    odd = card(page, "pipes").locator(".tool-row", has_text="odd/name")
    odd.locator("summary").click()
    odd.get_by_role("button", name="Approve").click()
    expect(odd).to_contain_text("Asks every time")
    small = open_browser(viewport={"width": 320, "height": 900}).new_page()
    small.goto("/tools/")
    expect(small.get_by_text("pipes__odd_name")).to_be_visible()
    assert overflow(small) == 0

"""From an administrator's switch to the answer: a command is approved, shows its output, and can be stopped."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, ask, new_chat, press
from tests.e2e.test_access_for_all import faults_at_each_width
from tests.installed import needs
from tests.serving import Site

pytestmark = [pytest.mark.e2e, needs("bwrap")]

TESTS = """
import pathlib, time, unittest

class Waits(unittest.TestCase):
    def test_until_it_is_told_to_go_on(self):
        print("waiting for the file", flush=True)
        while not pathlib.Path("go").exists():
            time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def site(own_site: Site) -> Site:
    """One on which bash is switched on, by the page."""
    return own_site


@pytest.fixture
def chat(page: Page) -> Page:
    """A new conversation on a site that has bash."""
    page.goto("/tools/")
    switch = page.locator("#switch-bash")
    if not switch.is_checked():
        switch.click()
        expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    return new_chat(page)


# T3, T11
def test_the_tests_are_run_with_bash(chat: Page, site: Site) -> None:
    place = site.directory / "workspaces" / (chat.locator("#chat").get_attribute("data-conversation") or "")
    (place / "test_wait.py").write_text(TESTS)
    ask(chat, "Run the tests with bash")
    question = chat.locator("[data-question]")
    expect(question).to_contain_text("Run this command?")
    expect(question.locator("pre")).to_have_text("python3 -m unittest discover -v")
    expect(question.get_by_role("button", name="in this chat")).to_have_count(0)
    expect(chat.get_by_role("button", name="once")).to_be_focused()
    press(chat, "a")
    output = chat.locator(".call [data-output]")
    expect(output).to_contain_text("waiting for the file")
    expect(output).to_have_attribute("aria-live", "off")
    chat.reload()
    chat.locator(".call > summary").click()
    expect(output).to_contain_text("waiting for the file")
    (place / "go").write_text("")
    answered(chat)
    expect(chat.locator(".call")).to_have_attribute("data-status", "done")
    expect(chat.locator(".prose").last).to_contain_text("Ran 1 test")


# T11, C5
def test_an_edited_command_is_stopped_alone(chat: Page) -> None:
    ask(chat, "Run `echo asked` with bash")
    expect(chat.locator("[data-question]")).to_contain_text("echo asked")
    press(chat, "e")
    chat.get_by_role("textbox", name="command").fill("echo edited; sleep 60")
    chat.get_by_role("button", name="with my version").click()
    expect(chat.locator("[data-output]")).to_have_text("edited\n")
    expect(chat.locator("[data-elapsed]")).to_have_text(re.compile(r"^[5-9] s"))
    # A page that is opened now counts from the beginning of the tool, which can be stopped at once.
    chat.reload()
    expect(chat.locator("[data-elapsed]")).to_have_text(re.compile(r"^\d+ s"))
    assert int(chat.locator("[data-elapsed]").inner_text().removesuffix(" s")) >= 5
    chat.locator("[data-call-stop]").press("Enter")
    answered(chat)
    expect(chat.locator(".call > summary")).to_be_focused()
    expect(chat.locator(".call")).to_have_attribute("data-status", "stopped")


def test_axe_finds_nothing_while_it_runs(chat: Page, open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 800}).new_page())
    ask(page, "Run `for n in {1..80}; do echo line $n is longer than a phone is wide; done; sleep 60` with bash")
    expect(page.locator("[data-question]")).to_be_visible()
    assert faults_at_each_width(page) == []
    page.get_by_role("button", name="once").click()
    expect(page.locator("[data-output]")).to_contain_text("line 80")
    assert faults_at_each_width(page) == []
    page.get_by_role("button", name="Stop", exact=True).last.click()

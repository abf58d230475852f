"""Leaving a tool out of a chat by keyboard, on the page *Why these tools*."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.conftest import answered, ask, new_chat, ready
from tests.e2e.test_access_for_all import faults_at_each_width, overflow, violations

pytestmark = pytest.mark.e2e


# T1 T2
def test_a_tool_is_left_out_of_a_chat_by_the_keyboard(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 800}).new_page())
    page.get_by_role("button", name="Settings of this chat").click()
    page.get_by_role("link", name="Why these tools").click()
    heading = page.get_by_role("heading", name="tools are offered")
    page.wait_for_load_state()  # the switches are saved by a script
    before = int(heading.inner_text().split()[0])
    switch = page.get_by_role("checkbox", name="list_directory")
    switch.focus()
    page.keyboard.press("Space")
    expect(heading).to_contain_text(re.compile(rf"^{before - 1} of"))
    expect(page.locator("#explained").get_by_role("status")).to_have_text("Saved")
    expect(switch).to_be_focused()
    expect(switch).not_to_be_checked()
    expect(page.locator("[data-copy-source]").last).not_to_contain_text("list_directory")
    for fold in page.locator("#explained details > summary").all():
        fold.click()
    assert faults_at_each_width(page) == []
    page.get_by_role("link", name="Back to the chat").click()
    ready(page)
    ask(page, "What's in this folder?")
    answered(page)
    expect(page.locator("[data-call]")).to_have_count(0)


# T1
def test_a_tool_is_switched_off_for_the_team_by_the_keyboard(open_browser: Callable[..., BrowserContext]) -> None:
    page = open_browser(viewport={"width": 320, "height": 640}).new_page()
    page.goto("/tools/")
    switch = page.get_by_role("switch", name="write_file")
    switch.focus()
    page.keyboard.press("Space")
    expect(switch).not_to_be_checked()
    expect(switch).to_be_focused()
    expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    assert violations(page) == [] and overflow(page) == 0
    # "Saved" of the first time is still there, and other tests share this site.
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.keyboard.press("Space")
    expect(switch).to_be_checked()
    expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()

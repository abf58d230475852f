"""A chat that outgrows its model's context: the notice, the larger context and its undo, as people see them (F9)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, new_chat, photograph
from tests.e2e.test_access_for_all import overflow, violations

pytestmark = pytest.mark.e2e
ASKED = "What's in this folder?"


def send(page: Page, text: str) -> None:
    """Ask, and wait for the end of that very answer."""
    answers = page.locator(".message[data-role=assistant]")
    before = answers.count()
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")
    expect(answers.nth(before)).to_be_visible()
    answered(page)


def test_a_cut_is_noticed_cured_and_taken_back_by_the_keyboard(open_browser: Callable[..., BrowserContext]) -> None:
    page = open_browser(viewport={"width": 1280, "height": 800}).new_page()
    new_chat(page, "sim-truncates")
    send(page, "a " * 10_000 + ASKED)
    expect(page.locator("[data-code=cut_raised]")).to_contain_text("now gets 16,384")
    expect(page.locator("details.call")).to_have_count(0)
    send(page, ASKED)
    expect(page.locator("details.call")).to_contain_text("Listed")
    send(page, "a " * 15_500 + ASKED)
    send(page, ASKED)
    expect(page.locator("[data-code=context_taken_back]")).to_contain_text("Its context is 16,384 again")
    page.locator("[data-code=context_taken_back]").scroll_into_view_if_needed()
    photograph(page, "context-light-1280")
    assert violations(page) == []
    page.locator("[data-code=context_taken_back]").get_by_role("link", name="Request settings").press("Enter")
    expect(page).to_have_url(re.compile("/options/$"))
    expect(page.get_by_label("Context num_ctx")).to_have_value("16384")
    page.get_by_label("Grow context automatically").select_option("No")
    page.get_by_label("Grow context automatically").press("Tab")
    page.locator("#options").get_by_role("button", name="Save").press("Enter")
    expect(page.locator(".line[role=status]")).to_contain_text("Saved")
    photograph(page, "context-options")


def test_what_was_left_out_on_a_small_dark_screen(open_browser: Callable[..., BrowserContext]) -> None:
    page = open_browser(color_scheme="dark", viewport={"width": 320, "height": 800}).new_page()
    new_chat(page, "sim-honest")
    send(page, "hello")  # so that the server counts the tools
    send(page, "word " * 5_500)
    expect(page.locator("[data-code=context_raised]")).to_contain_text("now gets 16,384")
    send(page, "word " * 6_200)
    expect(page.locator("[data-code=tools_no_room]").first).to_contain_text("Left out: ")
    photograph(page, "context-dark-320")
    assert violations(page) == [] and overflow(page) <= 0

"""A model that refuses file tools and calls bash works with files, as people see it (T6)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, ask, new_chat, photograph, press
from tests.e2e.test_access_for_all import overflow, violations

pytestmark = pytest.mark.e2e


def test_reading_listing_and_adding_a_line_by_keyboard(page: Page) -> None:
    new_chat(page, "sim-shell")
    ask(page, "Read config.json and tell me its version.")
    answered(page)
    expect(page.locator("[data-code=through_bash]")).to_contain_text("answered that it cannot access files")
    card = page.locator("details.call").first
    expect(card).to_contain_text("Read config.json")
    card.locator("summary").first.press("Enter")
    expect(card).to_contain_text("Called as bash · run by read_file")
    photograph(page, "translation-read")
    assert violations(page) == []
    ask(page, "List this folder.")
    answered(page)
    expect(page.locator("details.call").nth(1)).to_contain_text("Listed")
    ask(page, 'Append "Buy more jasmine" to notes.md')
    question = page.locator("[data-question]")
    expect(question).to_contain_text("Add to notes.md?")
    expect(question.locator("[data-kind=added]")).to_contain_text("Buy more jasmine")
    photograph(page, "translation-question")
    question.get_by_role("button", name="once").focus()
    press(page, "Enter")
    answered(page)
    expect(page.locator("details.call").nth(2)).to_have_attribute("data-status", "done")


def test_on_a_small_dark_screen(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(color_scheme="dark", viewport={"width": 320, "height": 800}).new_page(), "sim-shell")
    ask(page, "Read config.json")
    answered(page)
    page.locator("details.call").first.locator("summary").first.press("Enter")
    expect(page.locator("details.call").first).to_contain_text("Called as bash · run by read_file")
    photograph(page, "translation-small")
    assert violations(page) == [] and overflow(page) <= 0

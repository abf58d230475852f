"""The memory of a chat and its chosen prompts: by a model's call, by hand, in both themes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, ask, new_chat, press, raw_exchange
from tests.e2e.test_access_for_all import faults_at_each_width

pytestmark = pytest.mark.e2e


def wire(page: Page) -> str:
    """The request of the last answer, as it would be sent now."""
    fold = raw_exchange(page)
    expect(fold.locator("[data-wire]")).to_contain_text("messages")
    return fold.inner_text()


def open_files(page: Page) -> None:
    if page.locator("#panel").is_hidden():  # it opens by itself once a tool changed something
        page.locator("#files-toggle").click()
    expect(page.locator("#memory-text")).to_be_visible()


# T3
def test_a_model_remembers_and_a_person_corrects_it(page: Page) -> None:
    ask(page, "Remember that Maria likes tea.")
    expect(page.locator("[data-question]")).to_contain_text("Remember 1 line in this chat?")
    expect(page.locator(".changes [data-kind=added]").last).to_contain_text("Maria likes tea")
    press(page, "a")
    answered(page)
    open_files(page)
    expect(page.locator("#memory-text")).to_have_value("Maria likes tea")
    expect(page.locator("#memory")).to_contain_text("Last written by the model")
    page.locator("#memory-text").fill("Maria likes coffee.")
    page.locator("#memory").get_by_role("button", name="Save").press("Enter")
    expect(page.locator("#memory")).to_contain_text("Saved")
    expect(page.locator("#memory").get_by_role("button", name="Save")).to_be_focused()
    page.keyboard.press("Escape")
    ask(page, "What is 17*23?")
    answered(page)
    assert "Maria likes coffee." in wire(page)


def test_what_is_edited_is_what_is_remembered(page: Page) -> None:
    ask(page, "Remember that Maria likes tea.")
    expect(page.get_by_role("button", name="once")).to_be_focused()
    press(page, "e")
    page.locator("[data-question]").get_by_label("text", exact=True).fill("Maria likes green tea")
    page.get_by_role("button", name="with my version").click()
    answered(page)
    expect(page.locator(".call")).to_have_attribute("data-status", "done")
    expect(page.locator("#memory-text")).to_have_value("Maria likes green tea")


def write_prompt(page: Page, name: str, text: str) -> None:
    page.goto("/tools/prompts/")
    card = page.locator("form", has=page.locator("#prompt-new-name"))
    card.get_by_label("Name").fill(name)
    card.get_by_label("Text").fill(text)
    card.get_by_role("button", name="Add").click()
    expect(page.locator("#board")).to_contain_text(f"Saved {name}.")
    expect(page.get_by_role("button", name="Add prompt", exact=True)).to_be_focused()


# T3
def test_a_model_swaps_its_prompt_and_a_person_takes_it_back(page: Page) -> None:
    chat = page.url
    write_prompt(page, "pirate", "Speak like a pirate.")
    page.goto(chat)
    ask(page, 'Use hot_swap with prompts ["pirate"]')
    answered(page)
    card = page.locator(".call")
    expect(card).to_have_attribute("data-status", "done")
    expect(card).to_contain_text("Used prompts pirate")
    assert "Speak like a pirate." in wire(page)
    page.get_by_role("button", name="Settings of this chat").click()
    box = page.locator("#prompts").get_by_label("pirate")
    expect(box).to_be_checked()
    box.uncheck()
    expect(page.locator("#prompts")).to_contain_text("Saved: from the next message on.")
    expect(box).not_to_be_checked()


def test_axe_finds_nothing(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 800}).new_page())
    open_files(page)
    assert faults_at_each_width(page) == []
    page.goto("/tools/prompts/")
    expect(page.get_by_role("heading", name="Prompts", exact=True)).to_be_visible()
    assert faults_at_each_width(page) == []

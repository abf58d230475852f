"""Every simulated language does its work in the browser; calls in prose ask; the wire can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.chat.test_text_modes import LANGUAGES, LOOK
from tests.e2e.conftest import answered, ask, choose, new_chat, press, raw_exchange
from tests.e2e.test_access_for_all import faults_at_each_width, overflow, violations
from tests.serving import Site, switched_on

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def site(sites: Callable[..., Site]) -> Iterator[Site]:
    with switched_on(sites(TOOLSUPPORT_TEXT_FORMATS="all").alive(), "python_execution") as running:
        yield running


# F3 F7
def test_one_conversation_goes_through_every_language(page: Page) -> None:
    for number, name in enumerate(LANGUAGES, start=1):
        choose(page, f"{name}:latest")
        ask(page, LOOK)
        expect(page.locator(".call[data-status=done]")).to_have_count(number)
        answered(page)
        expect(page.locator(".message[data-role=assistant] .prose").last).to_contain_text("config.json")
    expect(page.locator(".call")).to_have_count(len(LANGUAGES))
    prefer(page, "code_mode")
    page.keyboard.press("Escape")
    choose(page, "sim-code:latest")
    ask(page, LOOK)
    expect(page.locator("[data-question] pre")).to_contain_text("list_directory(")
    expect(page.get_by_role("button", name="once")).to_be_focused()
    press(page, "a")
    expect(page.locator(".call[data-status=done]")).to_have_count(len(LANGUAGES) + 2)
    answered(page)
    expect(page.locator(".message[data-role=assistant] .prose").last).to_contain_text("config.json")


def prefer(page: Page, name: str) -> None:
    """Let the conversation prefer a call format."""
    page.get_by_role("button", name="Settings of this chat").click()
    page.get_by_label("Call format").select_option(name)
    expect(page.locator("#settings-status")).to_have_text("Saved")


# F5
def test_a_call_in_prose_asks_and_a_key_answers(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 800}).new_page(), "sim-speaks")
    for key, status in (("d", "denied"), ("a", "done")):
        ask(page, LOOK)
        expect(page.locator("[data-question]")).to_contain_text("wrote this call in its answer")
        expect(page.get_by_role("button", name="once")).to_be_focused()
        if key == "d":
            assert faults_at_each_width(page) == []
        press(page, key)
        answered(page)
        expect(page.locator(".call").last).to_have_attribute("data-status", status)
        expect(page.locator("[data-question]")).to_have_count(0)


def test_an_unreadable_call_is_shown_once(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 1280, "height": 800}).new_page(), "sim-hopeless-json")
    ask(page, LOOK)
    answered(page)
    card = page.locator(".call[data-status=rejected]").first
    expect(card.locator("summary").first).to_contain_text("Unreadable call")
    card.locator("summary").first.click()
    expect(card.get_by_label("Original call")).to_contain_text("<tool_call>")
    assert "tool_call" not in " ".join(page.locator(".message .prose").all_text_contents())
    assert violations(page) == [] and overflow(page) == 0
    page.reload()
    assert "tool_call" not in " ".join(page.locator(".message .prose").all_text_contents())


# T2
def test_the_wire_of_an_answer_is_rendered_when_it_is_opened(page: Page) -> None:
    ask(page, LOOK)
    answered(page)
    expect(page.locator(".wire").first).to_be_hidden()  # that of the round before
    wire = raw_exchange(page)
    expect(wire).to_contain_text("Exchange 1 of 1")
    expect(page.locator(".wire").first).to_be_visible()
    expect(wire.get_by_label("Request 1", exact=True)).to_contain_text("list_directory")
    expect(wire.get_by_label("Reply 1", exact=True)).to_contain_text('"done":true')
    assert violations(page) == [] and overflow(page) == 0


# F11
def test_an_answer_is_made_again_with_calls_as_text(page: Page) -> None:
    ask(page, LOOK)
    answered(page)
    page.get_by_role("button", name="Regenerate").last.click()
    page.get_by_role("button", name="Text mode").last.click()
    expect(page.locator(".branches").first).to_contain_text("2 / 2")
    answered(page)
    raw_exchange(page)
    wire = page.locator(".wire").first
    wire.locator("> summary").click()
    expect(wire).to_contain_text("Hermes")


# C4, F2
def test_a_conversation_prefers_a_format(page: Page) -> None:
    prefer(page, "hermes")
    expect(page.get_by_label("Call format")).to_have_value("hermes")

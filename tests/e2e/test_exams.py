"""A case from a chat, run in an exam, and the same answer replayed on another model, in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import answered, ask, choose
from tests.e2e.test_access_for_all import faults_at_each_width

pytestmark = pytest.mark.e2e


# E3, E7
def test_an_answer_becomes_a_case_and_is_replayed(page: Page) -> None:
    choose(page, "sim-honest")
    ask(page, "What is in the file notes.md?")
    answered(page)
    chat = page.url
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("link", name="Add as case").click()
    expect(page.get_by_text("Everyone in the team sees this")).to_be_visible()
    expect(page.get_by_label("Expected calls")).to_have_value(
        '[\n  {\n    "name": "read_file",\n    "arguments": {\n      "path": "notes.md"\n    }\n  }\n]'
    )
    page.get_by_label("Exam", exact=True).fill("From chats")
    page.get_by_role("button", name="Add case").click()
    expect(page.get_by_role("heading", name="From chats")).to_be_visible()
    assert faults_at_each_width(page) == []
    model = page.locator("#exam-model option", has_text="sim-honest:latest").first.get_attribute("value")
    page.locator("#exam-model").select_option(value=model)
    page.get_by_role("button", name="Choose model").click()
    page.get_by_role("button", name="Start exam").click()
    expect(page.get_by_text("1 of 1 passed")).to_be_visible(timeout=20_000)
    page.goto(chat)
    page.get_by_role("button", name="More", exact=True).last.click()
    page.get_by_role("link", name="Replay on other models").click()
    page.get_by_label("sim-ignores:latest").check()
    page.get_by_role("button", name="Replay this turn").click()
    expect(page.get_by_text("other calls")).to_be_visible(timeout=20_000)
    assert faults_at_each_width(page) == []
    page.keyboard.press("1")
    expect(page.get_by_role("button", name="Use sim-ignores:latest in the chat")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(chat)
    expect(page.locator("#picker-button")).to_contain_text("sim-ignores")

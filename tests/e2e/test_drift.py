"""Changed models, servers that lack a setting, and a change of the model in mid-answer, as people see them."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, ask, choose, new_chat, photograph
from tests.e2e.test_access_for_all import overflow, violations
from tests.serving import Site

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def site(own_site: Site) -> Site:
    """Nothing but these tests finds anything out about its models."""
    return own_site


def look_at(page: Page, name: str) -> None:
    """Wide and narrow, with no rule of access broken and nothing beyond the edge."""
    photograph(page, name)
    page.set_viewport_size({"width": 320, "height": 800})
    photograph(page, f"{name}-320")
    assert overflow(page) <= 0
    page.set_viewport_size({"width": 1280, "height": 800})
    assert violations(page) == []


def drifted(page: Page, site: Site) -> None:
    """sim-drifts is tested, gets another digest, and its server is asked again."""
    site.manage("detect", "sim-drifts:latest")
    page.goto("/servers/")
    httpx.post(f"{page.locator('dd.mono').first.inner_text()}/simulator/drift").raise_for_status()
    page.get_by_role("button", name="Check all servers").click()
    expect(page.get_by_text("Checked 1 server: 1 online.")).to_be_visible()


# D14
def test_a_changed_model_is_tested_again_from_every_page(page: Page, site: Site) -> None:
    drifted(page, site)
    page.goto("/history/?kind=drift")
    expect(page.get_by_role("button", name="Test again sim-drifts:latest")).to_be_visible()
    look_at(page, "drift-history")
    page.goto("/models/?q=sim-drifts")
    expect(page.get_by_role("button", name="Test again: sim-drifts:latest")).to_be_visible()
    look_at(page, "drift-models")
    page.get_by_role("link", name="sim-drifts:latest", exact=True).click()
    again = page.locator("#face").get_by_role("button", name="Test again")
    expect(again).to_be_visible()
    look_at(page, "drift-model")
    new_chat(page, "sim-drifts")
    expect(page.get_by_role("button", name="Test again: sim-drifts:latest")).to_be_visible()
    page.locator("#picker-button").click()
    expect(page.locator("#model-options [aria-selected=true]")).to_contain_text("older build")
    photograph(page, "drift-picker")
    page.keyboard.press("Escape")
    look_at(page, "drift-chat")
    page.get_by_role("button", name="Test again: sim-drifts:latest").click()
    expect(page.locator("[data-code=detected]")).to_contain_text("calls tools natively")
    expect(page.get_by_role("button", name="Test again: sim-drifts:latest")).to_have_count(0)


# P9, D9
def test_a_missing_setting_stands_in_the_bar_until_it_is_solved(page: Page) -> None:
    new_chat(page, "sim-misconfigured")
    page.locator("[data-unknown]").get_by_role("button", name="Yes", exact=True).click()
    expect(page.locator("[data-code=saved]")).to_be_visible()
    ask(page, "What's in this folder?")
    answered(page)
    expect(page.locator("[data-code=fallback]")).to_contain_text("needs a server setting for native tools")
    expect(page.locator("[data-code=flag_to_set]")).to_contain_text("--enable-auto-tool-choice")
    look_at(page, "flag-chat")
    page.goto("/servers/")
    expect(page.locator("#rare")).to_contain_text("1 server has a problem")
    expect(page.get_by_text("The server needs a setting for tools:")).to_be_visible()
    look_at(page, "flag-servers")
    page.get_by_role("link", name="sim-misconfigured:latest").click()
    expect(page.locator("#face")).to_contain_text("--enable-auto-tool-choice")
    look_at(page, "flag-model")


# B12
def test_undo_shows_what_changed_back(page: Page, site: Site) -> None:
    for _ in range(2):
        site.manage("detect", "sim-parallel-less:latest")
    page.goto("/models/?q=sim-parallel-less")
    page.get_by_role("link", name="sim-parallel-less:latest", exact=True).click()
    expect(page.locator("#history")).to_contain_text("Confirmed")
    look_at(page, "undo-model")
    model = page.url
    for place, words in enumerate(("Nothing changed: an earlier test found the same.", "→")):
        page.goto(model)
        page.locator("#history li", has_text="Tested automatically").get_by_role("link").nth(place).click()
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".test")).to_contain_text(words)
        look_at(page, f"undo-{len(words)}")


# C4
def test_a_model_changed_in_mid_answer_is_said_at_once(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 1280, "height": 800}).new_page())
    ask(page, 'Write "hello there" to notes.md')
    expect(page.locator("[data-question]").first).to_be_visible()
    choose(page, "sim-thinks")
    expect(page.locator("[data-code=model_changed]")).to_have_text("Model changed. Finishing this round…")
    look_at(page, "changed-chat")

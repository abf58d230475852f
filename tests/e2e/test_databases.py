"""A database is added by its page and asked in a chat, by models that call in three ways."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, ask, choose, new_chat
from tests.e2e.test_access_for_all import faults_at_each_width, violations
from tests.serving import Site
from toolsupport.registry.databases.example_database import BUSY

pytestmark = pytest.mark.e2e

ASKS = "How many orders per month?"


@pytest.fixture(scope="module")
def site(sites: Callable[..., Site]) -> Site:
    return sites(TOOLSUPPORT_TEXT_FORMATS="all").alive()


def with_example(page: Page) -> None:
    page.goto("/tools/sources/")
    button = page.get_by_role("button", name="Add example database")
    if button.count():
        button.focus()
        page.keyboard.press("Enter")
    expect(page.locator("[data-tone=ok]")).to_contain_text("Can be read")


# T10
def test_orders_per_month_by_three_models(page: Page) -> None:
    with_example(page)
    new_chat(page, "sim-honest")
    for number, name in enumerate(("sim-honest", "sim-hermes", "sim-pythonic"), start=1):
        choose(page, f"{name}:latest")
        ask(page, ASKS)
        expect(page.locator(".call[data-status=done]")).to_have_count(number)
        answered(page)
        expect(page.locator(".message[data-role=assistant] .prose").last).to_contain_text("2025-12")
    card = page.locator(".call").last  # names and numbers open the card
    rows = card.locator("tbody tr")
    expect(rows).to_have_count(len(BUSY))
    expect(rows.nth(11)).to_contain_text(f"{BUSY[11]}")
    # The same result as bars in the table, as a line, and on paper.
    view, curve, bars = card.locator("[data-view]"), card.locator(".curve"), card.locator("td .bar")
    for name, shown in (("Table", (0, 0)), ("Line", (1, 0)), ("Bars", (0, len(BUSY)))):
        button = card.get_by_role("button", name=name, exact=True)
        button.press("Enter")
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(view).to_have_attribute("data-view", name.lower())
        assert (curve.filter(visible=True).count(), bars.filter(visible=True).count()) == shown, name
    assert violations(page) == []
    with page.expect_download() as saved:
        card.get_by_role("link", name="Save as CSV").click()
    assert saved.value.path().read_text().startswith("month,orders\n2025-01,31\n")
    page.emulate_media(media="print")
    expect(card.locator("tbody tr").first).to_be_visible()
    expect(card.get_by_text("Save as CSV")).to_be_hidden()


def test_pages_and_cards_are_for_everybody(open_browser: Callable[..., BrowserContext]) -> None:
    page = open_browser(viewport={"width": 320, "height": 800}).new_page()
    with_example(page)
    page.locator("details.fold summary").first.click()
    assert faults_at_each_width(page) == []
    new_chat(page, "sim-honest")
    ask(page, ASKS)
    answered(page)
    expect(page.locator(".call tbody tr").first).to_be_visible()
    assert faults_at_each_width(page) == []

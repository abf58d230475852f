"""The history with the keyboard alone, on small screens, in both themes; a refusal in a chat as a person meets it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import answered, ask, new_chat, photograph
from tests.e2e.test_access_for_all import faults_at_each_width, overflow, violations
from tests.serving import Site

pytestmark = pytest.mark.e2e

Open = Callable[..., BrowserContext]


@pytest.fixture(scope="module")
def site(own_site: Site) -> Site:
    """Its history is that of these tests."""
    return own_site


def decide(page: Page, model: str, value: str) -> None:
    """Decide on a model's page whether it has native tools."""
    page.goto("/models/?q=" + model)
    page.goto(page.locator("#rows tbody a").first.get_attribute("href") or "")  # loaded, with its scripts
    page.locator("#override-tools").click()
    page.get_by_label("Value").select_option(value)
    page.get_by_role("button", name="Save for everyone").click()
    expect(page.locator("#face [role=status]").first).to_contain_text("Saved")


def first_of_the_bundle(page: Page, left: int) -> None:
    """The first entry of a bundle is one entry, not the bundle, and every count follows."""
    rows = page.locator(".feed .feed [data-row]")
    rows.first.get_by_role("button", name="Agree").click()
    expect(rows.first.get_by_role("status")).to_have_text("Agreed.")
    expect(rows).to_have_count(3)
    expect(page.locator("#review-chip")).to_have_text(str(left))
    if not left:
        expect(page.locator("nav .waiting-count").first).to_be_hidden()
    rows.nth(1).get_by_role("button", name="Undo").click()
    expect(rows.nth(1).get_by_role("status")).to_have_text("Undone. The previous value applies again.")
    page.goto("/history/")
    expect(page.locator("[data-row]", has_text="It sees.")).to_have_count(0)


PROPOSED = """
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
for model in ModelProfile.objects.order_by("name")[:3]:
    overrides.add(NewOverride(model.pk, "vision", True, reason="It sees.", proposed=True))
"""


def a_closed_bundle_opens(page: Page) -> None:
    """The newest row is a closed bundle: an answer is one about each of its entries."""
    for key, words in (
        ("a", "Choose a row first."),
        ("j", ""),
        ("a", "Opened. Choose an entry to agree with."),
        ("k", ""),
        ("r", "Choose an entry to revert."),
    ):
        page.keyboard.press(key)
        expect(page.locator("#key-status")).to_contain_text(words)


def a_long_result_leaves_room(page: Page, row: Locator) -> None:
    """The text of the row keeps its width beside what became of it."""
    page.set_viewport_size({"width": 640, "height": 800})
    assert row.evaluate("row => row.querySelector('.what').offsetWidth / row.offsetWidth") > 0.3
    page.set_viewport_size({"width": 1280, "height": 800})


# D11
def test_the_keyboard_alone_reviews_what_waits(open_browser: Open, site: Site) -> None:
    site.manage("shell", "--no-imports", "-c", PROPOSED)
    page = open_browser(viewport={"width": 1280, "height": 800}).new_page()
    page.goto("/models/")
    page.keyboard.type("gh")
    page.wait_for_url("**/history/")
    waits = int(page.locator("#review-chip").inner_text())
    rows = page.locator(".feed .feed [data-row]")
    a_closed_bundle_opens(page)
    expect(rows.first).to_be_focused()
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows.nth(1).locator("[data-evidence]")).to_contain_text("No test or refusal")
    page.keyboard.press("a")
    expect(rows.nth(1).get_by_role("status")).to_have_text("Agreed.")
    expect(page.locator("#review-chip")).to_have_text(str(waits - 1))
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("j")
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("d")
    expect(rows.nth(2).get_by_label("Reason")).to_be_focused()
    page.keyboard.type("No image was read.")
    page.keyboard.press("Enter")
    expect(rows.nth(2).get_by_role("status")).to_contain_text("Disagreed.")
    a_long_result_leaves_room(page, rows.nth(2))
    assert violations(page) == []
    photograph(page, "history-review")
    first_of_the_bundle(page, waits - 3)
    decide(page, "sim-honest", "No")
    page.goto("/history/?kind=override&source=user_confirmed")
    row = page.locator("[data-row]", has_text="sim-honest").first
    row.locator("summary").first.click()
    row.get_by_role("button", name="Revert").click()
    expect(row.get_by_role("status")).to_contain_text("Reverted.")
    row.get_by_role("button", name="Undo").click()
    expect(row.get_by_role("status")).to_have_text("Restored.")
    page.get_by_label("What", exact=True).select_option("withdrawal")
    page.wait_for_url("**kind=withdrawal**")
    expect(page.locator("[data-row]", has_text="sim-honest").first).to_be_visible()


def test_the_history_and_a_models_page_fit_and_are_readable(open_browser: Open) -> None:
    page = open_browser(viewport={"width": 320, "height": 800}).new_page()
    decide(page, "sim-honest", "Yes")
    page.locator("#override-vision").click()
    expect(page.get_by_label("Value")).to_be_focused()
    photograph(page, "model")
    assert faults_at_each_width(page) == []
    for path, name in (("/history/?show=all", "history"), ("/models/?review=1", "models")):
        page.goto(path)
        # Opening one takes it out of the list: a short history may have a single one left.
        closed = page.locator("main details:not([open]) > summary")
        for _ in range(min(2, closed.count())):
            closed.first.click()
        photograph(page, name)
        assert faults_at_each_width(page) == []


# D9, G8: a person confirmed it, the server refuses: calls are written as text, nobody is asked, noted for review
def test_a_refusal_of_a_confirmed_model_is_noted(open_browser: Open) -> None:
    page = open_browser(viewport={"width": 1280, "height": 800}).new_page()
    decide(page, "sim-refuses", "Yes")
    new_chat(page, "sim-refuses")
    ask(page, "What's in this folder?")
    expect(page.locator("[data-code=fallback]")).to_contain_text("cannot use native tools: its server refused them")
    answered(page)
    expect(page.locator("[data-question]")).to_have_count(0)
    page.goto("/history/?kind=refusal")
    row = page.locator("[data-row]").first
    expect(row).to_contain_text("refused although confirmed")
    expect(row.get_by_text("New", exact=True)).to_be_visible()
    with page.expect_response("**/history/*/read/") as marked:
        row.locator("summary").first.click()
    assert marked.value.status == 204
    expect(row).to_contain_text("does-not-support")
    photograph(page, "history-evidence")
    page.goto("/history/?kind=refusal")
    expect(row).to_contain_text("refused although confirmed")
    expect(row.get_by_text("New", exact=True)).to_have_count(0)


# What the site is told of a simulated model: its server declares tools, and whatever people decided is withdrawn.
DECLARE_TOOLS = """
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
model = ModelProfile.objects.get(name="sim-refuses:latest").pk
overrides.follow_evidence(NewOverride(model, "tools"))
overrides.declare(model, {"tools": True})
"""


# D9: a server that declares tools and refuses them
def test_a_card_asks_whether_to_remember_a_refusal(open_browser: Open, site: Site) -> None:
    site.manage("shell", "-c", DECLARE_TOOLS)
    page = new_chat(open_browser(viewport={"width": 320, "height": 700}).new_page(), "sim-refuses")
    ask(page, "What's in this folder?")
    card = page.locator("[data-question]")
    expect(card).to_contain_text("appears not to support tools. Update its metadata?")
    expect(card.get_by_role("button")).to_have_text(["Save for everyone", "Only this chat", "Use text mode"])
    photograph(page, "refusal")
    assert violations(page) == [] and overflow(page) <= 0
    page.reload()
    card.get_by_role("button", name="Only this chat").focus()
    page.keyboard.press("Enter")
    expect(card).to_have_count(0)
    expect(page.locator("[data-code=off_for_this_chat]")).to_be_visible()

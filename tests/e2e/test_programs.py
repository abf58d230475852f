"""Programs in the browser: shown whole, allowed by a key, the card of each of their calls inside their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, ask, new_chat, press
from tests.e2e.test_access_for_all import overflow, violations
from tests.serving import Site, switched_on

pytestmark = pytest.mark.e2e

SUM = "Sum column cups of data.csv with Python"
WRITE = 'Write "by a program" to notes.md with Python'


@pytest.fixture(scope="module")
def site(sites: Callable[..., Site]) -> Iterator[Site]:
    with switched_on(sites(TOOLSUPPORT_TEXT_FORMATS="all").alive(), "python_execution") as running:
        yield running


def settled(page: Page, program: str) -> None:
    """The answer is over, and the program ended so, with one call inside of it."""
    answered(page)
    card = page.locator("[data-calls] > .call")
    expect(card).to_have_attribute("data-status", program)
    expect(card.locator("[data-inner] > .call")).to_have_count(1)
    expect(page.locator("[data-question]")).to_have_count(0)


# T9 T11
@pytest.mark.parametrize("width", [320, 1280])
def test_a_program_is_allowed_whole_and_its_calls_one_by_one(
    open_browser: Callable[..., BrowserContext], width: int
) -> None:
    page = new_chat(open_browser(viewport={"width": width, "height": 800}).new_page())
    ask(page, WRITE)
    expect(page.locator("[data-question] pre")).to_contain_text("write_file('notes.md', 'by a program')")
    expect(page.get_by_role("button", name="once")).to_be_focused()
    assert violations(page) == [] and overflow(page) <= 0
    press(page, "a")
    expect(page.locator("[data-inner] [data-question]")).to_contain_text("Replace notes.md?")
    expect(page.locator("[data-calls] > .call > summary .state")).to_contain_text("Needs approval")
    expect(page.locator("[data-inner]").get_by_role("button", name="once")).to_be_focused()
    assert violations(page) == [] and overflow(page) <= 0
    if width == 320:
        page.reload()
        page.locator("[data-inner]").get_by_role("button", name="Deny").click()
    else:
        press(page, "a")
    settled(page, "done" if width == 1280 else "failed")
    if width == 320:
        expect(page.locator("[data-calls]").first).to_contain_text("PermissionError")


# M8
def test_the_honest_model_sums_a_column_with_python(page: Page) -> None:
    ask(page, SUM)
    expect(page.get_by_role("button", name="once")).to_be_focused()
    press(page, "a")
    settled(page, "done")
    expect(page.locator(".message[data-role=assistant] .prose").last).to_contain_text("is 2863")
    before = page.locator("[data-inner] > .call").inner_html()
    page.reload()
    assert page.locator("[data-inner] > .call").inner_html() == before

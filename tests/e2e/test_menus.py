"""Where things stand: the rows of each menu on one line, and what a narrow screen shows first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import answered, ask, new_chat

pytestmark = pytest.mark.e2e

# The distance of the text of each row from the inline start of its list, by that text.
STARTS = """() => [...document.querySelectorAll(".pop")].filter((list) => list.checkVisibility()).map((list) => {
  const rtl = getComputedStyle(list).direction === "rtl", edge = list.getBoundingClientRect(), found = {};
  for (const row of list.querySelectorAll('li :is(a, button), [role="option"]')) {
    if (!row.checkVisibility()) continue;
    const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT, (text) => text.data.trim() ? 1 : 3);
    const text = texts.nextNode(), range = document.createRange();
    range.setStart(text, text.data.search(/\\S/));
    range.setEnd(text, text.data.trimEnd().length);
    const words = range.getBoundingClientRect();
    found[text.data.trim()] = Math.round(rtl ? edge.right - words.right : words.left - edge.left);
  }
  return found;
})"""


def faults(page: Page, menu: str) -> Iterator[str]:
    """The lists in sight whose rows start at several places, in both directions of text."""
    for direction in ("ltr", "rtl"):
        page.evaluate("direction => document.documentElement.dir = direction", direction)
        lists = page.evaluate(STARTS)
        assert any(len(rows) > 1 for rows in lists), f"no menu is open: {menu}"
        for rows in lists:
            if max(rows.values(), default=0) - min(rows.values(), default=0) > 1:
                yield f"{menu}, {direction}: {rows}"
    page.evaluate("document.documentElement.removeAttribute('dir')")


def test_the_rows_of_a_menu_start_on_one_line(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser().new_page())
    ask(page, "Read config.json")
    answered(page)
    found: list[str] = []
    for name in ("Account of", "Servers, people and more", "More", "Regenerate"):
        page.get_by_role("button", name=name, exact=name in ("More", "Regenerate")).last.click()
        expect(page.locator(":popover-open")).to_be_visible()
        found += faults(page, name)
        page.keyboard.press("Escape")
    page.get_by_label("More about").first.click()
    expect(page.get_by_role("link", name="Save as JSON")).to_be_visible()
    found += faults(page, "the menu of a chat")
    assert found == []


def test_a_narrow_screen_shows_all_columns_of_a_case_below_each_other(
    open_browser: Callable[..., BrowserContext],
) -> None:
    page = open_browser(viewport={"width": 320, "height": 640}).new_page()
    token = next(one["value"] for one in page.context.cookies() if one["name"] == "csrftoken")
    exam = page.request.post("/models/1/validate/", form={"suite": "quick"}, headers={"X-CSRFToken": token}).url
    page.goto(exam)
    expect(page.locator("#cases-title")).to_be_visible()
    row = page.locator("section:has(#cases-title) tbody tr").first
    expect(row.locator("td.extra")).to_be_visible()
    tops = row.locator("th, td").evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().top)")
    assert len(tops) > 2 and tops == sorted(set(tops))
    assert row.locator(".tag").evaluate("one => one.getBoundingClientRect().right <= innerWidth")


def test_the_menu_of_the_bar_stands_at_its_end_without_sections(open_browser: Callable[..., BrowserContext]) -> None:
    page = open_browser(viewport={"width": 320, "height": 640}).new_page()
    page.context.clear_cookies()
    page.goto("/login/")
    menu = page.get_by_role("button", name="Appearance").bounding_box()
    assert menu and menu["x"] + menu["width"] > 290

"""Rows of the history at each width, a failed answer to one, and an override on a page of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.conftest import settled
from tests.e2e.test_history import PROPOSED, decide
from tests.serving import Site

pytestmark = pytest.mark.e2e

Open = Callable[..., BrowserContext]


@pytest.fixture(scope="module")
def site(own_site: Site) -> Site:
    """Its history is that of these tests."""
    return own_site


def test_an_override_is_saved_from_a_tab_of_its_own(open_browser: Open) -> None:
    page = open_browser(viewport={"width": 640, "height": 800}).new_page()
    page.goto("/models/?q=sim-thinks")
    page.locator("#rows tbody a").first.click()
    page.goto(page.locator("#override-vision").get_attribute("href") or "")
    page.get_by_label("Value").select_option("Yes")
    page.get_by_role("button", name="Save for everyone").click()
    expect(page.get_by_role("status").filter(has_text="Saved. Vision: yes, for everyone.")).to_be_visible()


def test_an_answer_to_a_row_that_fails_is_reported_beside_it(open_browser: Open) -> None:
    page = open_browser(viewport={"width": 1280, "height": 800}).new_page()
    decide(page, "sim-honest", "No")
    page.goto("/history/?kind=override&source=user_confirmed")
    row = page.locator("[data-row]", has_text="sim-honest").first
    row.locator("summary").first.click()
    revert = row.get_by_role("button", name="Revert")
    page.route("**/act/*", lambda route: route.abort("connectionrefused"))
    revert.click()
    expect(row.get_by_role("alert")).to_have_text("The server cannot be reached. Try again in a moment.")
    expect(revert).to_be_focused()
    page.unroute("**/act/*")
    revert.click()
    expect(row.get_by_role("status")).to_contain_text("Reverted.")
    expect(row.get_by_role("alert")).to_have_count(0)


# The share of a row that its text has, and by how many pixels a part of the row leaves it.
SHARES = """rows => rows.map((row) => {
  const { left, right, width } = row.getBoundingClientRect(), parts = [...row.querySelectorAll(".entry > *")];
  const boxes = parts.filter((one) => one.getClientRects().length).map((one) => one.getBoundingClientRect());
  const beyond = Math.max(...boxes.map((box) => Math.max(left - box.left, box.right - right)));
  return [row.querySelector(".what").getBoundingClientRect().width / width, beyond];
})"""


@pytest.mark.parametrize(("width", "least"), [(320, 0.7), (640, 0.45), (1280, 0.55)])
def test_the_text_of_a_row_has_most_of_its_width(open_browser: Open, site: Site, width: int, least: float) -> None:
    site.manage("shell", "--no-imports", "-c", PROPOSED)
    page = open_browser(viewport={"width": width, "height": 800}).new_page()
    decide(page, "sim-honest", "Yes")
    for address in ("/history/", "/history/?show=all"):
        page.goto(address)
        page.evaluate("document.querySelectorAll('main details.more').forEach(one => one.open = true)")
        settled(page)
        rows = page.locator("[data-row]:not(:has([data-row]))")
        assert rows.count() > 2
        found = rows.evaluate_all(SHARES)
        assert [one for one in found if one[0] < least or one[1] > 0] == [], address

"""Two presses, one right after the other: the part of the page that both replace shows both."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

pytestmark = pytest.mark.e2e
PEOPLE = ("Ada", "Ben")

# Counts requests, and how often the part of the page is replaced.
COUNTING = """() => {
  window.sent = window.put = 0;
  document.addEventListener("htmx:beforeRequest", () => sent++);
  const boards = ({ addedNodes }) => [...addedNodes].filter((node) => node.id === "board").length;
  const count = (records) => records.forEach((record) => put += boards(record));
  new MutationObserver(count).observe(document.body, { childList: true, subtree: true });
}"""


@pytest.fixture
def people(open_browser: Callable[..., BrowserContext]) -> Page:
    page = open_browser(own=True).new_page()
    page.goto("/people/")
    for name in PEOPLE:
        if page.get_by_role("button", name=f"Deactivate {name}").count():
            continue  # of the test before
        page.get_by_label("Username", exact=True).fill(name)
        page.get_by_role("button", name="Invite person").click()
        expect(page.get_by_role("button", name=f"Deactivate {name}")).to_be_visible()
    return page


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["in order", "turned"])
def test_both_changes_are_shown(people: Page, order: tuple[int, int]) -> None:
    held: list[Route] = []
    people.route("**/switch/", lambda route: held.append(route))
    for name in PEOPLE:
        with people.expect_request("**/switch/"):
            people.get_by_role("button", name=f"Deactivate {name}").click()
    while len(held) < len(PEOPLE):
        people.title()
    replies = [route.fetch() for route in held]
    for place in order:
        with people.expect_response("**/switch/"):
            held[place].fulfill(response=replies[place])
    for name in PEOPLE:
        expect(people.get_by_role("button", name=f"Activate {name}", exact=True)).to_be_visible()
    # What was put in works: it is bound, each button acts once, and is put in once.
    people.unroute_all()
    people.evaluate(COUNTING)
    for number, name in enumerate(PEOPLE, 1):
        people.get_by_role("button", name=f"Activate {name}", exact=True).click()
        expect(people.get_by_role("button", name=f"Deactivate {name}")).to_be_focused()
        assert people.evaluate("[sent, put]") == [number, number]


def test_a_button_that_is_being_pressed_is_not_replaced(open_browser: Callable[..., BrowserContext]) -> None:
    """A part that is fetched every second stays between the press and the release of the mouse."""
    page = open_browser(own=True).new_page()
    page.goto("/models/?q=sim-thinks")
    page.get_by_role("button", name=re.compile("^Test (6 untested|these 6)")).click()
    page.get_by_role("button", name="Cancel tests").hover()
    page.mouse.down()
    for _ in range(2):
        page.wait_for_event("requestfinished", lambda request: "/models/detect/" in request.url)
    with page.expect_request("**/models/detect/cancel/"):
        page.mouse.up()
    expect(page.locator("#bulk")).to_contain_text("cancelled", ignore_case=True)

"""Signs of a chat on other pages: the list with its states, lines about answers, the row menu by keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.conftest import answered, ask, choose, new_chat, photograph, ready, until
from tests.e2e.test_access_for_all import violations
from tests.e2e.test_approvals import ASK

pytestmark = pytest.mark.e2e

# [what was known, what the server says, the chat in view, the news, the unread chats]
RULES = """async () => {
  const { compare } = await import("/static/js/news_rules.js");
  const ran = { chat: "a", turn: 1, state: "answering", ended: "" };
  const [ended, asks] = [{ ...ran, state: "ended", ended: "done" }, { ...ran, state: "needs approval" }];
  const known = (one, unread = false) => ({ a: { turn: one.turn, state: one.state, unread } });
  return [
    [null, [ended], "", 0, ""],
    [known(ran), [ended], "", 1, "a"],
    [known(ran), [ended], "a", 0, ""],
    [known(ran), [asks], "", 1, ""],
    [known(asks), [asks], "", 0, ""],
    [known(ended), [ended], "", 0, ""],
    [known(ended, true), [ended], "", 0, "a"],
    [known(ended, true), [ended], "a", 0, ""],
    [known(ended, true), [], "", 0, "a"],
    [known(ended, true), [], "a", 0, ""],
    [known(ended), [{ ...ended, turn: 2 }], "", 1, "a"],
    [known(ended, true), [{ ...ran, turn: 2 }], "", 0, ""],
    [known(ran), [{ ...ended, ended: "stopped" }], "", 0, ""],
    [{}, [ran], "", 0, ""],
    [{}, [ended], "", 1, "a"],
  ].filter(([before, answers, here, news, unread]) => {
    const found = compare(before, answers, here);
    const dots = Object.keys(found.after).filter((id) => found.after[id].unread);
    return found.news.length !== news || dots.join() !== unread;
  }).map((row) => JSON.stringify(row));
}"""

# Those of the elements in whose middle lies something else.
COVERED = """all => all.filter((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return !one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).map((one) => one.outerHTML)"""


def covered_stops(page: Page) -> list[str]:
    """The controls of a page that lines about answers cover while they have the focus."""
    size = page.viewport_size
    page.set_viewport_size({"width": 640, "height": 400})
    found = []
    for stop in page.locator("main :is(a, button, select, input):visible").all()[:40]:
        stop.focus()
        found += page.locator(":focus").evaluate_all(COVERED)
    page.set_viewport_size(size or {"width": 1280, "height": 800})
    return found


# A control with the focus where the lines are.
FOCUS_BELOW_LINES = """() => {
  const { left, top } = document.getElementById("news").getBoundingClientRect();
  const control = document.createElement("button");
  Object.assign(control.style, { position: "fixed", left: `${left}px`, top: `${top}px` });
  document.body.append(control);
  control.focus();
  control.remove();
}"""


def test_an_answer_elsewhere_is_shown_on_every_page(page: Page) -> None:
    assert page.evaluate(RULES) == []
    elsewhere = page.context.new_page()
    elsewhere.goto("/models/")
    until(elsewhere, "sessionStorage.length > 0")
    other = new_chat(page.context.new_page())
    expect(other.locator("#conversations [aria-current]")).to_have_count(0)  # an empty chat has no row
    ask(page, ASK)
    expect(page.locator("[data-question]")).to_be_visible()
    line = elsewhere.locator("#news .line")
    expect(line).to_contain_text("needs your approval.")
    row = other.locator(f"#listed-{page.url.rstrip('/').rpartition('/')[2]}")
    expect(row.locator("[data-state]")).to_have_attribute("data-answer", "needs approval")
    expect(other.locator("#news .line")).to_contain_text("needs your approval.")
    assert other.locator("#news .line > *").evaluate_all(COVERED) == []
    assert violations(elsewhere) == []
    photograph(elsewhere, "news")
    assert covered_stops(elsewhere) == []
    page.get_by_role("button", name=re.compile("once$")).first.click()
    answered(page)
    expect(line).to_contain_text("has a new answer.")
    choose(page, "sim-slow-load")
    ask(page, "Hello")
    page.goto("/tools/")
    expect(row.locator("[data-state]")).to_have_attribute("data-answer", "new answer")
    photograph(other, "sidebar")
    page.get_by_role("link", name="Open ").click()
    ready(page)
    expect(page.locator("#conversations [aria-current] [data-state]")).to_have_attribute("data-answer", "")
    lines_stay_above_the_message_box(other)


def lines_stay_above_the_message_box(page: Page) -> None:
    """Lines that made room for the focus do not cover the message box, which the first message moves down."""
    page.evaluate(FOCUS_BELOW_LINES)
    ask(page, "What is 17*23?")
    answered(page)
    expect(page.locator("#news .line").first).to_be_visible()
    assert page.locator(".composer :is(button, textarea):visible").evaluate_all(COVERED) == []


def unpin_while_the_list_is_wanted(page: Page) -> None:
    """An answer begins elsewhere between the press and its reply: the list is fetched after the reply."""
    pressed: list[Route] = []
    page.route("**/pin/", lambda route: pressed.append(route))
    page.keyboard.press("Shift+F10")
    unpin = page.locator("#conversations li:has([aria-current])").get_by_role("button", name="Unpin", exact=True)
    with page.expect_request("**/pin/"):
        unpin.press("Enter")
    lists: list[str] = []
    page.on("request", lambda request: lists.append(request.url) if "/chat/list/" in request.url else None)
    page.evaluate("document.getElementById('conversation-search').requestSubmit()")
    page.evaluate("fetch('/readyz', { cache: 'no-store' })")  # a list that was asked for before is noticed by then
    assert lists == []
    with page.expect_response("**/pin/"), page.expect_response(lambda reply: "/chat/list/" in reply.url):
        pressed[0].continue_()
    page.unroute("**/pin/")
    expect(page.locator("#conversations h2").first).not_to_have_text("Pinned")


def test_a_row_is_pinned_by_keyboard_and_new_chat_uses_the_empty_one(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    row = page.locator("#conversations li:has([aria-current])")
    row.locator("a").first.focus()
    page.keyboard.press("Shift+F10")
    row.get_by_role("button", name="Pin", exact=True).press("Enter")
    expect(page.locator("#conversations h2").first).to_have_text("Pinned")
    expect(page.locator("#conversations section").first).to_contain_text("What is 17*23?")
    expect(row.locator("a").first).to_be_focused()
    assert violations(page) == []
    unpin_while_the_list_is_wanted(page)
    expect(row.locator("a").first).to_be_focused()
    page.get_by_role("button", name="New chat").click()
    expect(page.locator(".welcome")).to_be_visible()
    address = page.url
    with page.expect_navigation():
        page.get_by_role("button", name="New chat").click()
    assert page.url == address

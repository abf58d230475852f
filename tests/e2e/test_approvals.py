"""A change asks first, in the card: by mouse, by key, after a reload, in both themes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.conftest import answered, ask, new_chat, press
from tests.e2e.test_access_for_all import faults_at_each_width, overflow

pytestmark = pytest.mark.e2e

ASK = "Write hello there to notes.md"


def asked(page: Page) -> None:
    ask(page, ASK)
    expect(page.locator("[data-question]")).to_contain_text("Replace notes.md?")
    expect(page.locator(".changes [data-kind=added]").last).to_contain_text("hello there")


# T11
def test_a_key_allows_once_and_the_answer_goes_on(page: Page) -> None:
    asked(page)
    expect(page.get_by_role("button", name="once")).to_be_focused()
    press(page, "a")
    answered(page)
    expect(page.locator(".call")).to_have_attribute("data-status", "done")
    expect(page.locator("[data-question]")).to_have_count(0)


def test_an_approval_in_a_fetched_transcript_gets_the_focus(page: Page) -> None:
    """The page catches up while its message is on its way: the text in the read-only field is not being written."""
    held: list[Route] = []
    page.route(re.compile("/messages/"), lambda route: held.append(route))
    page.evaluate("document.getElementById('transcript').dataset.tail -= 1")  # a gap before the next frame
    page.get_by_label("Message", exact=True).fill(ASK)
    page.keyboard.press("Enter")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("[data-question]")).to_be_visible()
    other.close()
    expect(page.locator("#text")).to_have_value(ASK)
    for route in held:
        route.continue_()
    page.unroute_all()
    expect(page.get_by_role("button", name="once")).to_be_focused()
    press(page, "d")
    answered(page)
    expect(page.locator(".call")).to_have_attribute("data-status", "denied")
    expect(page.locator("#text")).to_have_value("")


def test_it_is_still_asked_after_a_reload_and_can_be_denied(page: Page) -> None:
    asked(page)
    page.reload()
    expect(page.locator("#waiting")).to_have_text("Waiting for your approval")
    expect(page.locator("[data-question]")).to_contain_text("Replace notes.md?")
    page.get_by_text("Deny with a reason").click()
    expect(page.get_by_label("Reason, for the model")).to_be_focused()
    page.keyboard.type("a reason")  # an A elsewhere in the card would allow
    page.get_by_role("button", name="Deny with this reason").click()
    answered(page)
    expect(page.locator(".call")).to_have_attribute("data-status", "denied")
    page.locator(".call > summary").click()
    expect(page.locator(".call-body")).to_contain_text("The person wrote: a reason")
    expect(page.locator(".call-body .error")).to_have_count(0)


def test_edited_arguments_are_what_runs(page: Page) -> None:
    asked(page)
    press(page, "e")
    expect(page.get_by_label("content")).to_be_focused()
    expect(page.locator("#follow")).to_be_hidden()  # no text arrived
    # What is not shown cannot be allowed meanwhile, neither by a button nor by its key.
    keys = page.locator(".approval .keys > button")
    expect(keys.locator("visible=true")).to_have_count(1)
    expect(keys.locator("visible=true")).to_have_text(re.compile("^Deny"))
    expect(page.locator(".approval .changes")).to_be_hidden()
    expect(page.locator(".approval")).to_contain_text("only your version can be allowed")
    page.locator(".approval details.edit > summary").first.focus()
    for key in "afc":
        page.keyboard.press(key)
        expect(page.locator("#status")).to_have_text("While you edit, only your version can be allowed.")
    expect(page.locator("[data-question]")).to_have_count(1)
    expect(page.locator("#files-toggle")).to_have_attribute("aria-pressed", "false")  # nor is a key one of the page
    page.get_by_label("content").focus()
    page.keyboard.press("Escape")  # leaves the field and does not stop the answer
    expect(keys.locator("visible=true")).to_have_count(4)
    expect(page.locator(".approval .changes")).to_be_visible()
    expect(page.get_by_role("button", name="once")).to_be_visible()
    # The field has the focus before the next letter can arrive: each is a key of the approval or of the page.
    pressed = "button => { button.dispatchEvent(new KeyboardEvent('keydown', {key: 'e', bubbles: true}));"
    focused = page.get_by_role("button", name="once").evaluate(f"{pressed} return document.activeElement.name; }}")
    assert focused == "argument.content"
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("another text, something else")
    page.get_by_role("button", name="with my version").click()
    expect(page.locator(".call > summary")).to_be_focused()
    answered(page)
    card = page.locator(".call")
    card.locator("> summary").click() if card.get_attribute("open") is None else None
    expect(card).to_contain_text("something else")
    expect(card).to_contain_text("edited by a person")


def test_an_answer_that_does_not_arrive_is_reported_and_given_again(page: Page, complaints: list[str]) -> None:
    asked(page)
    line, once = page.locator(".approval [data-status-line]"), page.get_by_role("button", name="once")
    faults = {
        0: "The server cannot be reached. Try again in a moment.",
        404: "refused this (404)",
        500: "server failed",
    }
    left = list(faults)

    def reply(route: Route) -> None:
        if not left:
            route.continue_()
        elif status := left.pop(0):
            route.fulfill(status=status)
        else:
            route.abort("connectionrefused")

    page.route("**/questions/*/answer/", reply)
    for words in faults.values():
        expect(once).to_be_focused()
        press(page, "a")
        expect(line).to_contain_text(words)
    expect(once).to_be_focused()
    press(page, "a")
    answered(page)
    expect(page.locator(".call")).to_have_attribute("data-status", "done")
    complaints[:] = [words for words in complaints if not re.search("Status Error|status of (404|500)", words)]


def test_a_new_message_takes_the_place_of_an_answer(page: Page) -> None:
    asked(page)
    ask(page, "What is 17*23?")
    answered(page)
    expect(page.locator(".prose").last).to_contain_text("391")
    expect(page.locator(".message[data-role=assistant] > h2:not(.visually-hidden)")).to_have_count(1)
    expect(page.locator("[data-question]")).to_have_count(0)


def test_axe_finds_nothing_in_a_question(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 800}).new_page())
    asked(page)
    page.locator("[data-answer-key=e]").click()
    assert faults_at_each_width(page) == []


# Keeps, for each approval, whether it has the focus at the moment at which it is first in the document.
FOCUSED = """() => {
  window.focused = {};
  new MutationObserver(() => {
    for (const one of document.querySelectorAll("#transcript [data-question]"))
      window.focused[one.id] ??= one.contains(document.activeElement);
  }).observe(document.getElementById("transcript"), { childList: true, subtree: true });
}"""


def test_an_approval_has_the_focus_from_the_moment_at_which_it_is_seen(page: Page) -> None:
    page.evaluate(FOCUSED)
    asked(page)
    assert list(page.evaluate("Object.values(window.focused)")) == [True]


# Types a letter in the very moment at which an approval gets the focus, and holds it.
TYPES = """() => {
  const typed = { key: "a", bubbles: true, cancelable: true };
  const key = (place, repeat) => place.dispatchEvent(new KeyboardEvent("keydown", { ...typed, repeat }));
  window.typed = 0;
  document.addEventListener("focusin", ({ target }) => {
    if (target.closest("[data-question]")) key(target, false), window.typed++;
  });
  window.hold = () => key(document.activeElement, true);
}"""


def test_a_letter_that_was_meant_for_another_place_allows_nothing(page: Page) -> None:
    page.evaluate(TYPES)
    asked(page)
    expect(page.get_by_role("button", name="once")).to_be_focused()
    assert page.evaluate("window.typed") == 1
    expect(page.locator("[data-early]")).to_have_count(0)
    page.evaluate("window.hold()")
    expect(page.locator(".call")).to_have_attribute("data-status", "waiting")
    expect(page.locator("[data-question]")).to_have_count(1)
    page.keyboard.press("a")
    answered(page)
    expect(page.locator(".call")).to_have_attribute("data-status", "done")


# Notes whether a click would have reached the button that allows, at the moment at which it is first in the document.
REACHED = """() => {
  window.reached = [];
  new MutationObserver(() => {
    const button = document.querySelector("[data-question] [data-answer-key=a]");
    if (!button || window.reached.length) return;
    button.scrollIntoView();
    const { x, y, width, height } = button.getBoundingClientRect();
    window.reached.push(button.contains(document.elementFromPoint(x + width / 2, y + height / 2)));
  }).observe(document.getElementById("transcript"), { childList: true, subtree: true });
}"""


def test_a_click_that_was_meant_for_another_place_allows_nothing(page: Page) -> None:
    page.evaluate(REACHED)
    asked(page)
    assert page.evaluate("window.reached") == [False]
    page.get_by_role("button", name="once").click()
    answered(page)
    expect(page.locator(".call")).to_have_attribute("data-status", "done")


def test_an_approval_takes_no_focus_from_a_text_that_is_written(page: Page) -> None:
    page.evaluate(FOCUSED)
    page.get_by_label("Message", exact=True).fill(ASK)
    page.keyboard.press("Enter")
    search = page.get_by_role("searchbox").first
    search.fill("a chat")
    expect(page.locator("[data-question]")).to_contain_text("Replace notes.md?")
    expect(page.locator("#waiting")).to_have_text("Waiting for your approval")
    expect(search).to_be_focused()


@pytest.mark.parametrize("width", [320, 1280])
def test_a_long_line_of_a_change_wraps_in_its_box(open_browser: Callable[..., BrowserContext], width: int) -> None:
    page = new_chat(open_browser(viewport={"width": width, "height": 800}).new_page())
    ask(page, f"Write {'x' * 180} to notes.md")
    box = page.locator(".changes")
    expect(box.locator("[data-kind=added]").last).to_contain_text("x" * 180)
    assert overflow(page) <= 0
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    assert faults_at_each_width(page) == []

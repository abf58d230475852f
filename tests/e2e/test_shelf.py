"""The list of conversations in a browser: searched, renamed, archived, exported, deleted; keys and switches."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.e2e.conftest import answered, ask, choose, new_chat, ready, until
from tests.e2e.test_access_for_all import overflow, violations

pytestmark = pytest.mark.e2e


def opened(page: Page) -> Locator:
    """The line of the conversation that is shown, with what can be done about it."""
    row = page.locator("#conversations li:has([aria-current])")
    expect(row).not_to_contain_text("New chat")
    row.locator(".more > summary").click()
    expect(row.get_by_role("button", name="Delete")).to_be_visible()
    return row


def replaced(page: Page) -> None:
    """Have the list fetched and replaced, as an answer of another chat does."""
    page.evaluate("""() => {
      document.getElementById("conversations").dataset.former = "";
      document.getElementById("conversation-search").requestSubmit();
    }""")
    until(page, "!('former' in document.getElementById('conversations').dataset)")


def outside(page: Page) -> None:
    """Leave the text field, so that single keys act."""
    page.get_by_label("Message", exact=True).press("Escape")


# C7
def test_a_conversation_is_found_by_what_was_said(page: Page) -> None:
    ask(page, "What is 17*23? A zebra asks.")
    answered(page)
    outside(page)
    page.keyboard.press("/")
    expect(page.get_by_label("Search chats")).to_be_focused()
    page.keyboard.type("zebra")
    expect(page.locator("#conversations mark")).to_have_text("zebra")
    page.get_by_label("Search chats").fill("no such word anywhere")
    expect(page.locator("#conversations")).to_have_text(re.compile("Nothing found"))
    page.get_by_label("Search chats").fill("")
    expect(page.locator("#conversations [aria-current]")).to_contain_text("zebra")


# C10
def test_the_list_follows_answers_of_other_chats(page: Page) -> None:
    choose(page, "sim-long")
    ask(page, "Tell me a story of otters")
    here = page.locator("#conversations li:has([aria-current]) [data-state]")
    expect(here).to_have_text("answering")
    other = new_chat(page.context.new_page())
    line = other.locator("#conversations li", has_text="story of otters").locator("[data-state]")
    expect(line).to_have_text("answering")
    page.get_by_role("button", name="Stop").click()
    expect(here).to_have_text("")
    expect(line).to_have_text("")


# C7 C10
def test_a_new_title_is_seen_everywhere_and_stays(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    row = opened(page)
    row.get_by_label("Title").fill("Sums & such")
    row.get_by_role("button", name="Rename").click()
    expect(page.locator("#conversations [aria-current]")).to_contain_text("Sums & such")
    expect(page.locator("h1")).to_have_text("Sums & such")
    expect(page).to_have_title(re.compile("^Sums & such"))
    ask(page, "What is 2+2?")
    answered(page)
    page.reload()
    expect(page.locator("h1")).to_have_text("Sums & such")


# C7
def test_what_is_archived_leaves_the_list_and_comes_back(page: Page) -> None:
    ask(page, "an archived question")
    answered(page)
    opened(page).get_by_role("button", name="Archive").click()
    expect(page.locator("#conversations")).not_to_contain_text("an archived question")
    page.get_by_role("checkbox", name="Archived").check()
    expect(page.locator("#conversations")).to_contain_text("an archived question")
    opened(page).get_by_role("button", name="Restore").click()
    page.get_by_role("checkbox", name="Archived").uncheck()
    expect(page.locator("#conversations")).to_contain_text("an archived question")


def test_the_list_waits_for_a_chat_that_is_being_restored(page: Page) -> None:
    ask(page, "a restored question")
    answered(page)
    opened(page).get_by_role("button", name="Archive").click()
    page.get_by_role("checkbox", name="Archived").check()
    expect(page.locator("#conversations")).to_contain_text("a restored question")
    held: list[Route] = []
    page.route("**/archive/", lambda route: held.append(route))
    opened(page).get_by_role("button", name="Restore").click()
    while not held:
        page.title()
    page.get_by_role("checkbox", name="Archived").uncheck()
    page.request.get("/chat/list/")  # a list that was asked for before is answered by then
    held[0].continue_()
    expect(page.locator("#conversations")).to_contain_text("a restored question")
    page.unroute_all()


# C7
def test_deleting_asks_first(page: Page) -> None:
    ask(page, "a question to delete")
    answered(page)
    address = page.url
    page.once("dialog", lambda dialog: dialog.dismiss())
    opened(page).get_by_role("button", name="Delete").click()
    expect(page.locator("#conversations")).to_contain_text("a question to delete")
    page.once("dialog", lambda dialog: dialog.accept())
    with page.expect_navigation():
        page.get_by_role("button", name="Delete").first.click()
    ready(page)
    assert page.url != address
    expect(page.locator("#conversations")).not_to_contain_text("a question to delete")


# C7
def test_an_open_menu_outlasts_a_new_list(page: Page) -> None:
    ask(page, "hi")
    answered(page)
    field = opened(page).get_by_role("textbox", name="Title")
    field.fill("Half a na")
    # As a frame of the socket does when an answer gives a chat its title.
    page.evaluate("async () => (await import('/static/js/title.js')).refreshTitle(location.pathname)")
    expect(field).to_have_value("Half a na")
    expect(field).to_be_focused()
    field.press_sequentially("me")
    field.press("Enter")
    expect(page.locator("#chat-title")).to_have_text("Half a name")


# The list is fetched as soon as a chat has its first message, and may come after the menu of its row was opened.
def test_an_open_menu_outlasts_the_list_of_a_search(page: Page) -> None:
    ask(page, "hello")
    answered(page)
    row = page.locator("#conversations li:has([aria-current])")
    expect(row).not_to_contain_text("New chat")
    held: list[Route] = []
    page.route("**/actions/", lambda route: held.append(route))
    row.locator(".more > summary").click()
    until(page, "document.querySelector('#conversations .more[open]')")
    replaced(page)
    expect(row.locator(".more[open] > summary")).to_be_focused()
    held[0].continue_()
    field = row.get_by_role("textbox", name="Title")
    field.fill("Half a na")
    replaced(page)
    expect(field).to_have_value("Half a na")
    expect(field).to_be_focused()
    field.press_sequentially("me")
    field.press("Enter")
    expect(page.locator("#chat-title")).to_have_text("Half a name")


def test_a_conversation_is_saved_as_a_file(page: Page) -> None:
    ask(page, "Read config.json and tell me the version")
    answered(page)
    row = opened(page)
    with page.expect_download() as markdown:
        row.get_by_role("link", name="Save as Markdown", exact=True).click()
    with page.expect_download() as data:
        row.get_by_role("link", name="Save as JSON", exact=True).click()
    assert markdown.value.suggested_filename.endswith(".md")
    assert "**read_file** · done" in Path(markdown.value.path()).read_text()
    assert [entry["role"] for entry in json.loads(Path(data.value.path()).read_text())["messages"]][-1] == "assistant"


# -- keys and switches --


def test_the_help_tells_the_keys(page: Page) -> None:
    outside(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 640})
    narrowest = "Math.min(...[...document.querySelectorAll('#keyboard dd')].map((one) => one.clientWidth))"
    assert page.evaluate(narrowest) > 90  # a long list of keys leaves room for its words
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_hidden()


def test_single_keys_can_be_switched_off(page: Page) -> None:
    # WCAG 2.1.4
    outside(page)
    page.keyboard.press("?")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    ready(page)
    outside(page)
    page.keyboard.press("m")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Account")).click()
    page.get_by_role("button", name="Keyboard").click()
    page.get_by_label("Single-key shortcuts").check()
    page.keyboard.press("Escape")
    outside(page)
    page.keyboard.press("m")
    expect(page.locator("#models")).to_be_visible()


HIDE = """
    Object.defineProperty(document, 'hidden', {get: () => window.away === true, configurable: true});
    window.told = [];
    window.Notification = class { constructor(title, options) { told.push([title, options.body]); } };
    Notification.permission = 'granted';
    Notification.requestPermission = async () => { window.asked = true; return 'granted'; };
"""


# C10
def test_an_answer_in_the_background_is_marked_and_told(page: Page) -> None:
    page.add_init_script(HIDE)
    page.reload()
    ready(page)
    assert page.evaluate("window.asked") is None
    page.get_by_role("button", name=re.compile("^Account")).click()
    page.get_by_label("Notify me when an answer ends").check()
    until(page, "window.asked === true")
    page.keyboard.press("Escape")
    page.evaluate("window.away = true")
    ask(page, "What is 17*23?")
    answered(page)
    expect(page).to_have_title(re.compile("^● "))
    until(page, "told.length === 1")
    assert page.evaluate("told[0][1]") == "What is 17*23? has a new answer."
    page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")
    expect(page).to_have_title(re.compile("^[^●]"))


# -- for everybody --


def test_axe_finds_nothing(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 1400, "height": 900}).new_page())
    ask(page, "What is 17*23?")
    answered(page)
    page.get_by_role("button", name="Regenerate").click()
    page.get_by_role("button", name="Same model").click()
    expect(page.locator(".branches")).to_be_visible()
    answered(page)
    page.get_by_role("button", name="Regenerate").click()
    opened(page)
    page.get_by_role("button", name="Edit message").click()
    assert violations(page) == [], "a conversation with versions, a line with its actions"
    page.get_by_label("Search chats").fill("17*23")
    expect(page.locator("#conversations mark").first).to_be_visible()
    assert violations(page) == [], "what was found"
    page.get_by_role("button", name=re.compile("^Account")).click()
    assert violations(page) == [], "the switches"
    page.get_by_role("button", name="Keyboard").click()
    assert violations(page) == [], "the help"


def test_a_small_screen_needs_no_sideways_scrolling(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 600}).new_page())
    ask(page, "What is 17*23?")
    answered(page)
    page.get_by_role("button", name="Regenerate").click()
    assert overflow(page) <= 0
    page.keyboard.press("Escape")  # closes the menu
    page.get_by_label("Message", exact=True).press("Escape")
    page.keyboard.press("/")
    expect(page.get_by_label("Search chats")).to_be_focused()
    opened(page)
    assert overflow(page) <= 0


def test_choosing_a_model_still_works_after_a_search(page: Page) -> None:
    page.get_by_label("Search chats").fill("x")
    choose(page, "sim-thinks")
    expect(page.locator("[data-code=switched]").last).to_contain_text("sim-thinks")

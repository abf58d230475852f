"""The chat in a browser: asking, tools, stopping, reloading, two tabs, swapping models."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.conftest import CHOOSE, answered, ask, choose, ready
from tests.serving import Site

pytestmark = pytest.mark.e2e


def streaming(page: Page, length: int = 40) -> str:
    """Wait until so much of an answer is there; gives what is there."""
    growing = page.locator(".message[data-role=assistant][data-finished=false] [data-blocks]")
    expect(growing).to_have_text(re.compile(f".{{{length}}}", re.DOTALL))
    return growing.text_content() or ""


def last_answer(page: Page) -> str:
    return page.locator(".message[data-role=assistant] .prose").last.inner_text()


def test_the_first_example_ends_in_a_tool_card(page: Page) -> None:
    # D4, C1: the success a newcomer sees first.
    with page.expect_navigation():
        page.get_by_role("button", name="New chat").click()
    ready(page)
    expect(page.locator(".welcome")).to_contain_text("Answers come from sim-honest")
    page.get_by_role("button", name="What's in this folder?").click()
    card = page.locator(".call")
    expect(card).to_have_attribute("data-status", "done")
    expect(card.locator("> summary")).to_contain_text("this folder")
    answered(page)
    expect(page.locator("#status")).to_contain_text("Done, ")
    expect(page.locator(".prose").last).to_contain_text("config.json")
    expect(page.locator(".welcome")).to_be_hidden()
    expect(page.locator("h1")).to_have_text("What's in this folder?")
    expect(page).to_have_title(re.compile("What's in this folder"))
    expect(page.locator("#sidebar [aria-current]")).to_contain_text("What's in this")


def test_a_card_opens_to_arguments_result_and_wire(page: Page) -> None:
    ask(page, "Read config.json and tell me the version")
    answered(page)
    expect(page.locator(".prose").last).to_contain_text("2.4.1")
    card = page.locator(".call")
    card.locator("summary").first.click()
    for words in ("Arguments", "path", "config.json", "Result", '"version": "2.4.1"'):
        expect(card).to_contain_text(words)
    card.get_by_text("Raw exchange").click()
    expect(card).to_contain_text("native")


def test_what_came_live_is_what_a_reload_shows(page: Page) -> None:
    # C1: one renderer for both.
    ask(page, "What's in this folder?")
    answered(page)
    live = page.locator("#transcript").inner_html()
    page.reload()
    ready(page)
    assert squeezed(page.locator("#transcript").inner_html()) == squeezed(live)


def squeezed(html: str) -> str:
    return re.sub(r"\s+", "", html)


def test_stop_keeps_what_was_said(page: Page) -> None:
    # C5
    choose(page, "sim-long")
    ask(page, "Tell me a long story")
    streaming(page)
    page.keyboard.press("Escape")
    expect(page.locator("[data-ended=stopped]")).to_have_text("Stopped by you")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    assert len(last_answer(page)) > 30


def test_the_stop_button_stands_where_send_was(page: Page) -> None:
    choose(page, "sim-long")
    ask(page, "Tell me a long story")
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_hidden()
    stop.press("Enter")
    expect(page.locator("[data-ended=stopped]")).to_be_visible()
    # The pressed button is hidden: who uses the keyboard goes on in the field.
    expect(page.get_by_label("Message", exact=True)).to_be_focused()


def test_the_field_has_the_focus_after_a_message_is_queued(page: Page) -> None:
    choose(page, "sim-long")
    ask(page, "Tell me a long story")
    streaming(page)
    page.get_by_label("Message", exact=True).fill("Then another one")
    page.locator("#send").press("Enter")
    expect(page.locator("#send")).to_be_hidden()
    expect(page.get_by_label("Message", exact=True)).to_be_focused()


def test_the_field_has_the_focus_after_a_button_beside_it_is_gone(page: Page) -> None:
    choose(page, "sim-long")
    page.get_by_label("Message", exact=True).fill("Tell me a long story")
    page.locator("#send").press("Enter")
    streaming(page)
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.locator("#stop").focus()
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    other.keyboard.press("Escape")
    expect(page.locator("[data-ended=stopped]")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_be_focused()


def test_a_reload_in_mid_stream_loses_nothing(page: Page) -> None:
    # C2
    choose(page, "sim-long")
    ask(page, "Tell me a long story")
    seen = streaming(page)
    page.reload()
    now = streaming(page, len(seen) + 1)
    assert "".join(now.split()).startswith("".join(seen.split()))  # live and finished blocks break lines elsewhere
    ready(page)
    page.keyboard.press("Escape")
    expect(page.locator("[data-ended=stopped]")).to_be_visible()


def test_two_tabs_show_the_same(page: Page) -> None:
    # C2
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    choose(page, "sim-long")
    expect(other.locator("#picker-button")).to_contain_text("sim-long")
    ask(other, "Tell me a long story")
    streaming(page)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    for tab in (page, other):
        expect(tab.locator("[data-ended=stopped]")).to_be_visible()
    assert last_answer(page) == last_answer(other)


def test_a_swap_is_told_in_the_chat(page: Page) -> None:
    # D4
    choose(page, "sim-refuses")
    expect(page.locator(".welcome")).to_contain_text("Answers come from sim-refuses")
    expect(page.locator("[data-code=switched]").last).to_have_text(
        re.compile(r"Switched to sim-refuses.*Tools: Disabled")
    )
    expect(page.locator("#status")).to_be_empty()
    expect(page.get_by_label("Message", exact=True)).to_have_attribute("placeholder", re.compile("sim-refuses"))
    ask(page, "What's in this folder?")
    answered(page)
    expect(page.locator(".call")).to_have_count(0)


def test_the_page_shows_that_the_model_is_loaded(page: Page, site: Site, ana: httpx.Client) -> None:
    # Another file may have had it loaded on this site.
    query = "SELECT server_id, name FROM toolsupport_modelprofile WHERE name LIKE 'sim-slow-load%'"
    [(server, name)] = site.rows(query)
    unload, token = {"deed": "unload", "name": name}, {"X-CSRFToken": ana.cookies["csrftoken"]}
    assert "was unloaded" in ana.post(f"/servers/{server}/models/act/", data=unload, headers=token).text
    choose(page, "sim-slow-load")
    ask(page, "Hello")
    expect(page.locator("#status")).to_have_text("Loading the model")
    expect(page.locator("#silence")).to_have_text(re.compile(r"· \d+ s"))
    answered(page)
    expect(page.locator("#silence")).to_be_empty()


def test_an_answer_that_breaks_off_says_so(page: Page) -> None:
    choose(page, "sim-dies")
    ask(page, "Tell me a long story")
    expect(page.locator("[data-ended=failed]")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def test_thinking_is_folded(page: Page) -> None:
    choose(page, "sim-thinks")
    ask(page, "What is 17*23?")
    answered(page)
    expect(page.locator("[data-thought]").last).to_have_text(re.compile(r"^Thought for "))
    expect(page.locator("[data-thinking]").last).to_be_hidden()
    expect(page.locator(".prose").last).to_contain_text("391")


def test_the_picker_marks_the_present_model_after_a_change(page: Page) -> None:
    choose(page, "sim-hermes")
    page.locator("#picker-button").click()
    expect(page.locator("#models [data-active]")).to_contain_text("sim-hermes")
    expect(page.locator("#models [data-active]")).to_have_attribute("aria-selected", "true")
    # The filters stay in sight above a long list.
    page.keyboard.press("End")
    expect(page.locator("#models [data-filter]").first).to_be_in_viewport(ratio=1)


def test_the_picker_shows_the_last_of_two_quick_changes(page: Page) -> None:
    """The second change arrives while the picker of the first one is on its way."""
    held: list[Route] = []
    page.route("**/picker/", lambda route: route.continue_() if held else held.append(route))
    page.evaluate(CHOOSE, "sim-hermes")
    while not held:
        page.title()
    first = held[0].fetch()
    page.evaluate(CHOOSE, "sim-thinks")
    expect(page.locator(".notice").last).to_contain_text("Switched to sim-thinks")
    held[0].fulfill(response=first)
    expect(page.locator("#picker-button")).to_contain_text("sim-thinks")
    expect(page.get_by_label("Message", exact=True)).to_have_attribute("placeholder", re.compile("sim-thinks"))


def test_the_exact_name_comes_first_in_the_picker(page: Page) -> None:
    page.locator("#picker-button").click()
    search = page.get_by_role("combobox", name="Search models")
    shown = page.locator("#model-options [role=option]:visible")
    search.fill("sim-thinks")
    expect(shown.first).to_contain_text("sim-thinks ")
    expect(shown.nth(1)).to_contain_text("sim-thinks-")
    search.fill("")
    before = shown.all_inner_texts()
    search.fill("sim-thinks")
    search.fill("")
    assert shown.all_inner_texts() == before


def test_a_draft_survives_a_reload(page: Page) -> None:
    page.get_by_label("Message", exact=True).fill("half a thought")
    page.reload()
    expect(page.get_by_label("Message", exact=True)).to_have_value("half a thought")


def test_a_text_that_is_too_long_is_kept_and_told(page: Page) -> None:
    text = "x" * 70_000
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("64 KiB")
    expect(page.get_by_label("Message", exact=True)).to_have_value(text)
    expect(page.get_by_label("Message", exact=True)).to_be_editable()
    expect(page.locator(".message")).to_have_count(0)


def test_shift_enter_breaks_the_line(page: Page) -> None:
    field = page.get_by_label("Message", exact=True)
    field.press_sequentially("one")
    field.press("Shift+Enter")
    field.press_sequentially("two")
    expect(field).to_have_value("one\ntwo")


def test_settings_are_saved_in_place(page: Page) -> None:
    # C9
    page.get_by_role("button", name="Settings of this chat").click()
    state = page.locator("#settings-status")
    expect(state).to_have_text("Changes are saved at once.")
    page.get_by_label("Temperature").fill("9")
    page.keyboard.press("Enter")
    expect(state).to_have_text("Not saved. The temperature must be a number from 0 to 2.")
    page.get_by_label("Temperature").fill("0.5")
    # Leaving a field saves it, and what is written in the next one meanwhile stays.
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("Be brief.")
    expect(state).to_have_text("Saved")
    with page.expect_response("**/settings/"):
        page.keyboard.press("Escape")
    page.reload()
    page.get_by_role("button", name="Settings of this chat").click()
    expect(page.get_by_label("Temperature")).to_have_value("0.5")
    expect(page.get_by_label("System prompt")).to_have_value("Be brief.")


def test_the_files_of_the_conversation_are_there(page: Page) -> None:
    # T12
    page.locator("#files-toggle").click()
    expect(page.locator("#files")).to_contain_text("config.json")
    page.locator("#file").set_input_files({"name": "mine.txt", "mimeType": "text/plain", "buffer": b"hello"})
    expect(page.locator("#files")).to_contain_text("mine.txt")


def test_a_server_that_dies_and_comes_back(page: Page, site: Site) -> None:
    # C2: nothing is lost, and the page says what happens.
    choose(page, "sim-long")
    ask(page, "Tell me a long story")
    streaming(page)
    site.kill()
    expect(page.locator("#offline")).to_have_text(re.compile("^Reconnecting"))
    page.get_by_label("Message", exact=True).fill("written meanwhile")
    site.start()
    expect(page.locator("#offline")).to_be_hidden()
    expect(page.locator("[data-ended=interrupted]")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_have_value("written meanwhile")
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def test_a_message_sent_while_the_server_is_away_arrives_once(page: Page, site: Site) -> None:
    site.kill()
    expect(page.locator("#chat")).to_have_attribute("data-connected", "false")
    page.get_by_label("Message", exact=True).fill("What is 17*23?")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("as soon as the server is back")
    site.start()
    answered(page)
    expect(page.locator(".message[data-role=user]")).to_have_count(1)
    expect(page.get_by_label("Message", exact=True)).to_have_value("")

"""Continuing, regenerating, editing, and the versions of a message, in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import answered, ask, choose, formatted, press, ready
from tests.e2e.test_composer import give

pytestmark = pytest.mark.e2e


def stopped(page: Page, text: str = "Tell me a long story") -> None:
    """Ask for something long, and stop it in the middle."""
    choose(page, "sim-long")
    ask(page, text)
    halt(page)


def halt(page: Page) -> None:
    growing = page.locator(".message[data-role=assistant][data-finished=false] [data-text]")
    expect(growing).to_have_text(re.compile(".{40}", re.DOTALL))
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def answers(page: Page) -> Locator:
    return page.locator(".message[data-role=assistant]")


def regenerate(page: Page, how: str) -> None:
    page.get_by_role("button", name="Regenerate").last.click()
    page.locator(":popover-open").get_by_role("button", name=how).click()


def same_after_reload(page: Page) -> None:
    """What is shown live is what a reload shows; what was unfolded aside."""
    formatted(page)
    live = page.locator("#transcript").inner_html()
    page.reload()
    ready(page)
    assert bare(page.locator("#transcript").inner_html()) == bare(live)


def bare(html: str) -> str:
    return re.sub(r'\s+|open=""', "", html)


# C5
def test_a_stopped_answer_goes_on(page: Page) -> None:
    stopped(page)
    said = answers(page).last.inner_text()
    page.get_by_role("button", name="Continue").click()
    expect(answers(page)).to_have_count(2)
    halt(page)
    assert said.split("\n")[0] in answers(page).first.inner_text()
    expect(page.get_by_role("button", name="Continue")).to_have_count(1)
    expect(page.locator(".message[data-role=user]")).to_have_count(1)
    same_after_reload(page)


# C5
def test_an_answer_made_anew_stands_beside_the_first(page: Page) -> None:
    ask(page, "What's in this folder?")
    answered(page)
    assert page.locator(".call").count() == 1
    regenerate(page, "Without tools")
    expect(page.locator(".branches span")).to_have_text("2 / 2")
    answered(page)
    expect(page.locator(".call")).to_have_count(0)
    expect(page.locator(".message[data-role=user]")).to_have_count(1)
    same_after_reload(page)
    page.get_by_role("button", name="Previous version").click()
    expect(page.locator(".branches span")).to_have_text("1 / 2")
    expect(page.locator(".call")).to_have_attribute("data-status", "done")
    same_after_reload(page)
    page.get_by_role("button", name="Next version").click()
    expect(page.locator(".call")).to_have_count(0)


# C5, T11
def test_a_version_keeps_its_own_approval(page: Page) -> None:
    """Denied in one version and allowed in the next; a version whose approval waits shows it in each tab."""
    ask(page, "Write hello there to notes.md")
    expect(page.get_by_role("button", name="once")).to_be_focused()
    press(page, "d")
    answered(page)
    regenerate(page, "Same model")
    expect(page.get_by_role("button", name="once")).to_be_visible()
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    expect(other.locator("[data-question]")).to_have_count(1)
    other.get_by_role("button", name="once").click()
    answered(page)
    expect(page.locator(".branches span")).to_have_text("2 / 2")
    row = page.locator(".call > summary")
    expect(row).to_contain_text("Replaced notes.md")
    same_after_reload(page)
    page.get_by_role("button", name="Previous version").click()
    expect(row).to_contain_text("Did not replace notes.md")
    expect(row).to_contain_text("Denied")
    same_after_reload(page)


def test_the_focus_stays_with_who_goes_through_the_versions_by_keyboard(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    keys, field = page.keyboard, page.get_by_label("Message", exact=True)
    page.get_by_role("button", name="Regenerate").press("Enter")
    keys.press("Tab")
    keys.press("Enter")
    expect(field).to_be_focused()
    expect(page.locator(".branches span")).to_have_text("2 / 2")
    answered(page)
    page.get_by_role("button", name="Previous version").press("Enter")
    expect(page.locator(".branches span")).to_have_text("1 / 2")
    expect(page.get_by_role("button", name="Previous version")).to_be_focused()
    expect(page.get_by_role("button", name="Previous version")).to_be_disabled()
    page.get_by_role("button", name="Next version").press("Enter")
    expect(page.locator(".branches span")).to_have_text("2 / 2")
    expect(page.get_by_role("button", name="Next version")).to_be_focused()
    page.get_by_role("button", name="Edit message").press("Enter")
    page.get_by_role("button", name="Cancel").press("Enter")
    expect(field).to_be_focused()


def test_another_model_answers_once(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    regenerate(page, "Another model")
    page.keyboard.press("Escape")
    expect(page.locator("#models")).to_be_hidden()
    expect(page.get_by_role("button", name="Regenerate")).to_be_focused()
    regenerate(page, "Another model")
    page.get_by_role("combobox", name="Search models").fill("sim-thinks")
    page.keyboard.press("Enter")
    expect(answers(page).last.locator("h2")).to_contain_text("sim-thinks")
    answered(page)
    expect(page.locator("#picker-button")).to_contain_text("sim-honest")
    expect(page.locator(".branches span")).to_have_text("2 / 2")


def test_the_picker_left_without_a_choice_forgets_the_answer(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    regenerate(page, "Another model")
    page.keyboard.press("Escape")
    choose(page, "sim-thinks")
    expect(page.locator("[data-code=switched]").last).to_contain_text("sim-thinks")
    expect(answers(page)).to_have_count(1)


# C5
def test_an_edited_message_begins_a_version_of_its_own(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    ask(page, "What's in this folder?")
    answered(page)
    page.locator(".message[data-role=user]").first.get_by_role("button", name="Edit message").click()
    field = page.get_by_label("Message", exact=True)
    expect(field).to_have_value("What is 17*23?")
    field.fill("What is 2+2?")
    page.keyboard.press("Enter")
    expect(page.locator(".message[data-role=user]")).to_have_count(1)
    expect(page.locator("#editing")).to_be_hidden()
    expect(answers(page).last.locator(".prose")).to_contain_text("4")
    answered(page)
    same_after_reload(page)
    page.get_by_role("button", name="Previous version").click()
    expect(page.locator(".message[data-role=user]")).to_have_count(2)


def test_editing_can_be_left_and_keeps_the_draft(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    field = page.get_by_label("Message", exact=True)
    field.fill("half a thought")
    page.get_by_role("button", name="Edit message").click()
    expect(page.locator("#editing")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#editing")).to_be_hidden()
    expect(field).to_have_value("half a thought")


def test_a_draft_and_its_file_wait_while_another_message_is_edited(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    field, chips = page.get_by_label("Message", exact=True), page.locator("#attached .chip[data-state=there]")
    give(page, "paste", "#text", "line of a log\n" * 700)
    expect(chips).to_have_text([re.compile("pasted.txt")])
    field.fill("half a thought")
    edit = page.get_by_role("button", name="Edit message")
    edit.click()
    expect(chips).to_have_count(0)
    field.press("Escape")
    expect(field).to_have_value("half a thought")
    expect(chips).to_have_text([re.compile("pasted.txt")])
    edit.click()
    give(page, "drop", "#transcript", files=["orders.csv"])
    expect(chips).to_have_text([re.compile("orders.csv")])
    field.fill("What is 2+2?")
    field.press("Enter")
    expect(page.locator(".branches span").first).to_have_text("2 / 2")
    answered(page)
    expect(page.locator(".message[data-role=user] a.chip")).to_have_text(["orders.csv"])
    expect(field).to_have_value("half a thought")
    expect(chips).to_have_text([re.compile("pasted.txt")])
    field.press("Enter")
    expect(page.locator(".message[data-role=user]").last).to_contain_text("half a thought")
    answered(page)
    expect(page.locator(".message[data-role=user]").last.locator("a.chip")).to_have_text(["pasted.txt"])


def test_escape_ends_the_editing_before_the_answer(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    other.get_by_role("button", name="Edit message").click()
    choose(page, "sim-long")
    ask(page, "Tell me a long story")
    growing = other.locator(".message[data-role=assistant][data-finished=false]")
    expect(growing).to_have_count(1)
    field = other.get_by_label("Message", exact=True)
    field.fill("")
    field.press("Enter")  # nothing to send
    expect(other.locator("#editing")).to_be_visible()
    field.press("Escape")
    expect(other.locator("#editing")).to_be_hidden()
    expect(other.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    expect(growing).to_have_count(1)
    field.press("Escape")
    expect(other.locator("#transcript [data-ended=stopped]")).to_have_count(1)


def test_another_tab_follows_to_the_branch(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    regenerate(page, "Same model")
    expect(other.locator(".branches span")).to_have_text("2 / 2")
    answered(page)
    page.get_by_role("button", name="Previous version").click()
    expect(other.locator(".branches span")).to_have_text("1 / 2")


# C10
def test_an_answer_says_what_it_took(page: Page) -> None:
    ask(page, "What is 17*23?")
    answered(page)
    expect(page.locator(".usage")).to_be_hidden()
    page.get_by_role("button", name="More", exact=True).press("Enter")
    expect(page.locator(".usage")).to_be_visible()
    expect(page.locator(".usage")).to_have_text(re.compile(r"^\d+ tokens? · [\d.]+ tokens/s$"))
    page.keyboard.press("Escape")
    same_after_reload(page)

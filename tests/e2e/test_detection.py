"""Tests of models as people use them: the card above the composer, the model's page, the evidence, the whole list."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.conftest import answered, ask, choose, new_chat, photograph
from tests.e2e.test_access_for_all import faults_at_each_width, overflow, violations
from tests.serving import Site

pytestmark = pytest.mark.e2e


# The running step is within the part of the list that can be seen.
RUNNING_SEEN = """() => {
  const step = document.querySelector("#asks .steps [data-state=running]");
  if (!step) return false;
  const [of, all] = [step.getBoundingClientRect(), step.parentElement.getBoundingClientRect()];
  return of.top >= all.top - 1 && of.bottom <= all.bottom + 1;
}"""


@pytest.fixture(scope="module")
def site(own_site: Site) -> Site:
    """Nothing but these tests finds anything out about its models."""
    return own_site


def model_page(page: Page, model: str) -> Page:
    page.goto(f"/models/?q={model}")
    page.get_by_role("link", name=f"{model}:latest", exact=True).click()
    return page


# D5
def test_the_card_folds_after_thirty_seconds_and_does_not_stand_in_the_way(page: Page) -> None:
    page.clock.install()
    new_chat(page, "sim-unknown")
    card = page.locator("[data-unknown]")
    expect(card.get_by_role("button", name="Test it")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    photograph(page, "card-light")
    card.get_by_role("button", name="No", exact=True).focus()
    page.clock.run_for(40_000)
    expect(card).to_have_attribute("open", "")
    page.get_by_label("Message", exact=True).focus()
    page.clock.run_for(31_000)
    expect(card).not_to_have_attribute("open", "")
    page.reload()
    page.clock.run_for(2_000)
    expect(card).not_to_have_attribute("open", "")
    ask(page, "What is 17*23?")
    expect(card).to_have_count(0)
    expect(page.locator("[data-code=no_answer]")).to_contain_text("The question was not answered")


def test_the_card_tests_the_model_on_a_small_dark_screen(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(
        open_browser(color_scheme="dark", viewport={"width": 320, "height": 800}).new_page(), "sim-misconfigured"
    )
    card = page.locator("[data-unknown]")
    expect(card).to_contain_text("Does sim-misconfigured:latest support tools?")
    photograph(page, "card-dark")
    assert violations(page) == [] and overflow(page) <= 0
    card.get_by_role("button", name="Test it").click()
    expect(page.locator("[data-code=flag_to_set]")).to_contain_text("--enable-auto-tool-choice")
    expect(page.locator("#picker-button")).to_contain_text("Broken")


def test_a_model_whose_tools_are_off_by_claim_is_tested_above_the_field(page: Page) -> None:
    choose(page, "sim-lfm2")
    test = page.locator("[data-remedy=test]").get_by_role("button")
    expect(test).to_contain_text("Test it")
    # It is offered once.
    expect(page.get_by_role("button", name="Test what sim-lfm2:latest can do with tools")).to_have_count(0)
    test.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#picker-button")).to_contain_text("Text mode")
    expect(test).to_have_count(0)
    ask(page, "Read config.json")
    answered(page)
    expect(page.locator(".call")).to_have_attribute("data-status", "done")


def test_the_command_tests_the_model_step_by_step(page: Page) -> None:
    choose(page, "sim-refuses")
    page.get_by_label("Message", exact=True).fill("/detect")
    page.keyboard.press("Enter")
    expect(page.locator("#asks .test")).to_contain_text("Accept tools")
    expect(page.locator("#asks .steps [data-state=running]")).to_contain_text("Text formats")
    page.wait_for_function(RUNNING_SEEN)
    for mark in ("#picker-button .ev", ".welcome .ev"):
        expect(page.locator(mark)).to_contain_text(re.compile(r"Testing \d+/\d+"))
    photograph(page, "chat-test")
    assert faults_at_each_width(page) == []
    # Twelve slow answers: the test passes without this too.
    page.get_by_role("button", name="Skip: Text formats").click()
    # A new chat may be told of tests of the model before, which have just ended.
    expect(page.locator("[data-code=detected]", has_text="refuses tools")).to_be_visible()
    expect(page.locator("#asks .test")).to_contain_text("Saved for everyone")
    photograph(page, "chat-tested")
    ask(page, "What is 17*23?")
    answered(page)
    expect(page.locator("#asks .test")).to_have_count(0)


def test_the_page_of_a_model_by_keyboard(open_browser: Callable[..., BrowserContext]) -> None:
    page = open_browser(viewport={"width": 320, "height": 800}).new_page()
    model_page(page, "sim-shell")
    page.locator("#detect-per_tool").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#tests .test")).to_be_visible()
    photograph(page, "model")
    expect(page.locator("#known .grid").first).to_contain_text("bash")
    assert faults_at_each_width(page) == []
    page.locator("#history").get_by_role("link", name="Raw exchange").first.click()
    # The first exchange loads the model.
    page.locator("details summary").nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("details[open]").first).to_contain_text("read_file")
    photograph(page, "evidence")
    assert faults_at_each_width(page) == []


def test_steps_are_skipped_and_a_test_is_cancelled(page: Page) -> None:
    model_page(page, "sim-slow-load")
    page.locator("#detect-tools").click()
    page.get_by_role("button", name="Skip: Parallel calls").click()
    page.locator("#tests .test").get_by_role("button", name="Cancel").click()
    expect(page.locator("[data-ended]")).to_contain_text("cancelled")


# D3
def test_an_override_by_keyboard_with_its_reason_its_chain_and_undo(
    open_browser: Callable[..., BrowserContext],
) -> None:
    page = open_browser(viewport={"width": 1280, "height": 900}).new_page()
    model_page(page, "sim-halves")  # no other test of this site tests it
    chain = page.locator("#why [data-link]")
    expect(chain.filter(has_text="decides")).to_contain_text("Server")
    expect(page.get_by_role("navigation", name="sim-halves:latest").locator("[aria-current]")).to_have_text(
        "Capabilities"
    )
    # The chain of another capability, and back to the row.
    page.locator("#source-vision").focus()
    page.keyboard.press("Enter")
    panel = page.locator("#evidence")
    expect(panel.locator("[data-link=in_force]")).to_contain_text("decides")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(panel).to_be_empty()
    expect(page.locator("#source-vision")).to_be_focused()
    page.locator("#override-vision").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Value")).to_be_focused()
    assert violations(page) == []
    page.get_by_label("Value").select_option("Yes")
    page.get_by_role("textbox", name="Reason", exact=True).fill("It described a picture")
    page.get_by_label("Ends after").fill("2099-11-30")
    page.keyboard.press("Enter")
    expect(page.locator("#undo-override")).to_be_focused()
    row = page.locator("#known tr", has=page.locator("#source-vision"))
    expect(row).to_contain_text("Yes")
    expect(page.locator("#history li").first).to_contain_text("It described a picture")
    assert violations(page) == [] and overflow(page) <= 0
    page.keyboard.press("Enter")
    expect(page.locator("#face [role=status]").first).to_contain_text("Undone.")
    expect(row).to_contain_text("No")
    page.set_viewport_size({"width": 320, "height": 800})
    page.locator(".tabs").get_by_role("link", name="Settings").press("Enter")
    expect(page.get_by_label("Temperature")).to_be_visible()
    assert violations(page) == [] and overflow(page) <= 0
    photograph(page, "settings-320")


def test_a_row_is_tested_by_a_key_and_stays_in_focus(page: Page) -> None:
    page.goto("/models/?q=sim-dies")
    row = page.locator("#rows tbody tr").first
    row.locator(".cell").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("t")
    expect(page.locator("#bulk")).to_contain_text("Testing 1 model")
    expect(row.locator(".ev")).to_contain_text("Broken")
    expect(page.locator("#bulk")).to_contain_text("Tested 1 model.")
    expect(row.locator("[data-about=tools]").last).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#evidence")).to_contain_text("The connection was cut during the test.")
    page.locator("#chip-broken").click()
    expect(page).to_have_url(re.compile(r"q=sim-dies&state=broken$"))


def test_the_filtered_models_are_tested_at_once(page: Page) -> None:
    page.goto("/models/?q=sim-mistral")  # no other test of the shared site tests these
    page.get_by_role("button", name="Test 2 untested").click()
    expect(page.locator("#bulk")).to_contain_text("Testing 2 models")
    photograph(page, "bulk")
    page.reload()
    expect(page.locator("#bulk")).to_contain_text("Testing 2 models")
    # Each row shows its own result, without another load of the page.
    row = page.locator("tr", has_text="sim-mistral:latest")
    expect(row.locator(".ev")).to_contain_text("Text mode")
    expect(page.locator("#bulk")).to_contain_text("Tested 2 models.")
    row.locator(".cell").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    panel = page.locator("#evidence")
    expect(panel).to_contain_text("Text format")
    expect(panel.locator("[data-link=in_force]")).to_contain_text("Test")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(panel).to_be_empty()
    expect(row.locator("[data-about=format]")).to_be_focused()


def test_a_button_of_the_matrix_outlasts_the_polls(page: Page) -> None:
    page.clock.install()
    page.goto("/models/?q=sim-thinks")  # more than are tested at once; no other test of the shared site tests these
    page.get_by_role("button", name=re.compile("^Test 6 untested")).click()
    page.clock.run_for(100)
    expect(page.locator("#bulk")).to_contain_text("Testing 6 models")
    held: list[Route] = []
    page.route("**/models/detect/cancel/", lambda route: held.append(route))
    with page.expect_request("**/models/detect/cancel/"):
        page.get_by_role("button", name="Cancel").click()
    # Polls that would replace the button, whose answer is for the page of then.
    page.clock.run_for(3_000)
    held[0].continue_()
    queued = page.locator("#rows .ev", has_text="Queued")
    page.clock.run_for(3_000)
    expect(queued).to_have_count(0)
    expect(page.locator("#bulk")).to_contain_text("cancelled", ignore_case=True)


# M7
def test_the_picker_tests_pins_and_leads_to_the_evidence(page: Page) -> None:
    page.locator("#picker-button").click()
    marked = page.locator("#model-options [data-active]")
    expect(marked).to_contain_text("sim-honest")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("t")
    # The rows follow the test while the picker stays open, and so does the sentence about the marked one.
    expect(marked).to_contain_text("this build")
    expect(page.locator(".model-foot")).to_contain_text("Called the right tool in 3 of 3 trials.")
    expect(page.locator("#transcript")).to_contain_text("Tested sim-honest:latest: calls tools natively.")
    expect(page.locator("#picker-button")).to_contain_text("Proven")
    page.keyboard.press("p")
    expect(page.locator("[data-recent] [data-pinned]")).to_contain_text("sim-honest")
    photograph(page, "picker")
    page.get_by_role("link", name="Evidence").click()
    expect(page.locator("h1")).to_contain_text("sim-honest")

"""Slash commands, and the cards of running calls."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from tests.e2e.conftest import answered, ask, choose, new_chat, ready
from tests.e2e.test_access_for_all import overflow, violations
from tests.e2e.test_approvals import ASK, asked

pytestmark = pytest.mark.e2e
Open = Callable[..., BrowserContext]


def command(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


# C1
def test_commands_do_what_the_buttons_do(page: Page) -> None:
    field = page.get_by_label("Message", exact=True)
    command(page, "/model use sim-unknown:latest")
    expect(page.locator("#picker-button")).to_contain_text("sim-unknown")
    expect(page.locator(".notice").last).to_contain_text("Switched to sim-unknown")
    expect(field).to_have_value("")
    command(page, "/model list")
    expect(page.locator("#models")).to_be_visible()
    page.keyboard.press("Escape")
    command(page, "/help")
    expect(page.locator("#keyboard")).to_contain_text("/model NAME")
    page.keyboard.press("Escape")
    command(page, "/model use nothing-like-it")
    expect(page.locator("#status")).to_contain_text("There is no model 'nothing-like-it'.")
    command(page, "/tools")
    page.wait_for_url("**/tools/")


def test_detect_tests_the_model(page: Page) -> None:
    # A model of its own: the other chats with it are told how the test ended, at any time.
    choose(page, "sim-parallel-less")
    command(page, "/detect")
    expect(page.locator("[data-code=detected]", has_text="sim-parallel-less")).to_contain_text("calls tools natively")


# T1: by command or by its box; a reload shows it too.
def test_tools_are_switched_off_for_a_chat(page: Page) -> None:
    command(page, "/tools off")
    expect(page.locator("#status")).to_contain_text("Tools are off in this chat.")
    ask(page, "What's in this folder?")
    answered(page)
    expect(page.locator(".call")).to_have_count(0)
    page.reload()
    ready(page)
    page.get_by_role("button", name="Settings of this chat").click()
    box = page.get_by_label("Offer tools to the model")
    expect(box).not_to_be_checked()
    box.check()
    expect(page.locator("#status")).to_contain_text("Tools are offered")
    page.keyboard.press("Escape")
    ask(page, "What's in this folder?")
    answered(page)
    expect(page.locator(".call")).to_have_count(1)


# T11
def test_what_is_allowed_in_a_chat_can_be_taken_back(open_browser: Open) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 700}).new_page())
    asked(page)
    page.get_by_role("button", name="Change notes.md in this chat").click()
    answered(page)
    page.get_by_role("button", name="Settings of this chat").click()
    menu = page.locator("#grants")
    expect(menu).to_contain_text("write_file for notes.md")
    assert violations(page) == [] and overflow(page) <= 0
    menu.get_by_role("button", name="Ask every time: write_file for notes.md").click()
    expect(menu).to_contain_text("Each change needs approval")
    page.keyboard.press("Escape")
    ask(page, ASK)
    expect(page.locator("[data-question]")).to_have_count(1)


def overheard(page: Page) -> tuple[list[WebSocketRoute], list[dict[str, Any]]]:
    """Stand between the page and the server: the line to the page, and what the page says."""
    lines: list[WebSocketRoute] = []
    said: list[dict[str, Any]] = []

    def connect(line: WebSocketRoute) -> None:
        server = line.connect_to_server()
        lines.append(line)

        def hear(text: str | bytes) -> None:
            said.append(json.loads(text))
            server.send(text)

        line.on_message(hear)

    page.route_web_socket(re.compile("/ws/"), connect)
    return lines, said


# C2
def test_a_late_hello_does_not_begin_an_answer_that_is_over(open_browser: Open) -> None:
    page = open_browser().new_page()
    lines, _ = overheard(page)
    new_chat(page)
    ask(page, "Hello")
    answered(page)
    tail = int(page.locator("#transcript").get_attribute("data-tail") or 0)
    late: dict[str, Any] = {"type": "hello", "conversation": "", "model": None, "capabilities": {}}
    late |= {"tail": tail - 1, "turn": 1}
    with page.expect_response(re.compile("/messages/")):
        lines[-1].send(json.dumps(late))
    expect(page.locator("#transcript")).to_have_attribute("aria-busy", "false")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


# F10
def test_a_call_is_shown_while_it_is_written(open_browser: Open) -> None:
    page = open_browser(viewport={"width": 320, "height": 700}).new_page()
    lines, _ = overheard(page)
    new_chat(page)
    ask(page, "Hello")
    answered(page)
    message = int(page.locator(".message[data-role=assistant]").get_attribute("data-message") or 0)
    piece = {"type": "call.delta", "message": message, "call": "c1", "name": "write_file"}
    for offset, text in ((0, '{"path": "'), (10, 'no😀tes.md"'), (40, ', "late": 1')):
        lines[-1].send(json.dumps(piece | {"offset": offset, "text": text}))
    card = page.locator("[data-writing=c1]")
    expect(card.locator("> summary")).to_contain_text("Writing a call to write_file")
    card.locator("> summary").click()
    expect(card.locator("[data-arguments]")).to_have_text('{"path": "no😀tes.md"…, "late": 1')
    assert violations(page) == [] and overflow(page) <= 0


# C5: the button stands in the card of a tool that runs for long.
def test_a_tool_that_runs_for_long_has_its_own_stop(page: Page) -> None:
    _, said = overheard(page)
    new_chat(page)
    ask(page, "Read config.json and tell me the version")
    answered(page)
    page.evaluate(
        """() => {
          const card = document.querySelector(".call"), state = card.querySelector(".state");
          card.dataset.status = "running";
          state.innerHTML = "running<span data-elapsed></span>";
          const button = Object.assign(document.createElement("button"), { hidden: true, textContent: "Stop" });
          button.dataset.callStop = "";
          card.querySelector("summary").append(button);
        }"""
    )
    stop = page.locator(".call").get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    expect(page.locator(".call [data-elapsed]")).to_contain_text("5 s")
    stop.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("This tool is no longer running.")
    assert {"type": "call.stop", "call": page.locator(".call").get_attribute("data-call")} in said
    expect(page.locator(".call")).not_to_have_attribute("open", "")

"""Flows that a fresh machine shows with simulated models: the learning card, vision, Continue, a denied write."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.conftest import answered, ask, new_chat, press, raw_exchange
from tests.e2e.test_access_for_all import overflow, violations
from tests.toolsupport.simulator.reading.test_pictures import RED, png
from toolsupport.simulator.rules.fixed_texts import LONG

pytestmark = pytest.mark.e2e


# M8 D9 T12 C5
def test_every_flow_is_seen_on_a_fresh_machine(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 1280, "height": 900}).new_page(), "sim-claims")
    ask(page, "What's in this folder?")
    answered(page)
    expect(page.locator("[data-question]")).to_contain_text("appears not to support tools")
    wire = raw_exchange(page)
    expect(wire).to_contain_text("Exchange 1 of 2")
    expect(wire).to_contain_text("400 Bad Request")
    expect(wire.get_by_label("Reply 1", exact=True)).to_contain_text("does not support tools")
    expect(wire.get_by_label("Request 1", exact=True)).to_contain_text('"list_directory"')
    assert violations(page) == [] and overflow(page) <= 0

    new_chat(page, "sim-sees")
    page.locator("#file").set_input_files({"name": "r.png", "mimeType": "image/png", "buffer": png(60, 40, RED)})
    expect(page.locator("#attached [data-state=there]")).to_have_count(1)
    ask(page, "What is in this image?")
    answered(page)
    said = page.locator(".message[data-role=assistant] .prose").last
    expect(said).to_contain_text("60 × 40 pixels")
    expect(said).to_contain_text("mostly red")
    expect(raw_exchange(page)).to_contain_text("[image/png, ")

    new_chat(page, "sim-honest")
    ask(page, "Write hello to notes.md")
    expect(page.locator("[data-question]")).to_be_visible()
    press(page, "d")
    answered(page)
    expect(page.locator(".call")).to_have_attribute("data-status", "denied")
    expect(said).to_contain_text("did not work")
    expect(said).not_to_contain_text("Done")


# C5 M8
def test_a_stopped_answer_continues_where_it_ended(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 1280, "height": 900}).new_page(), "sim-honest")
    ask(page, "A long answer, please")
    prose = page.locator(".message[data-role=assistant] .prose")
    expect(prose.last).to_contain_text("long answer of a simulated model")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Continue").click()
    expect(prose.last).to_contain_text("That is the end of this long answer.")
    answered(page)
    shown = "".join("".join(prose.all_text_contents()).split())
    assert shown.count("Thisisalonganswer") == 1
    assert shown.count("Thatistheendofthislonganswer") == 1
    plain = "".join(sign for sign in LONG if sign.isalpha())
    assert abs(len("".join(sign for sign in shown if sign.isalpha())) - len(plain)) < 20

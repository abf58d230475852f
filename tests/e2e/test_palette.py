"""The palette by keyboard, from any page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import answered, ask, photograph, ready
from tests.e2e.test_access_for_all import overflow, violations

pytestmark = pytest.mark.e2e

# What is typed, the last used, and the ids that stand there in order.
RULES = """async () => {
  const { choose, pieces } = await import("/static/js/palette_rules.js");
  const option = (id, group, title) => ({ id, group, title });
  const options = [
    option("m1", "Models", "gemma:qwen"), option("m2", "Models", "qwen3:8b"),
    option("c", "Commands", "New chat"), option("p", "Pages", "Models"),
    option("h1", "Chats", "About the new qwen"), option("h2", "Chats", "New plans"),
    ...Array.from({ length: 20 }, (_, place) => option(`x${place}`, "Chats", `row ${place}`)),
  ];
  const wrong = [
    ["qwen", [], "m2,m1,h1"], ["NEW", [], "c,h2,h1"], ["new qwen", [], "h1"],
    ["> ", [], "c"], [">new", [], "c"], [">qwen", [], ""], ["zzz", [], ""],
    ["", [], "h1,h2,x0,x1,x2"], ["", ["p", "gone", "x9"], "p,x9,h1,h2,x0"], ["row", [], "x0,x1,x2,x3,x4,x5"],
  ].filter(([typed, recent, ids]) => choose(options, typed, recent).map(({ option: one }) => one.id).join() !== ids);
  const text = (typed) => pieces("qwen3:8b", typed).map(([piece]) => piece).join("");
  const whole = ["", "q", "QWEN", "(", "3:8b", "none"].filter((typed) => text(typed) !== "qwen3:8b");
  return JSON.stringify([wrong, whole]);
}"""


def switched_off(page: Page) -> None:
    page.evaluate("localStorage.setItem('wants-palette', 'no')")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_hidden()


def expect_letters_to_act(page: Page, field: Locator, options: Locator) -> None:
    """With an empty field the letters act on a model that the arrows have marked: one that was opened last."""
    page.evaluate(
        "id => localStorage.setItem(`palette:${document.body.dataset.person ?? ''}`, JSON.stringify([id]))",
        options.filter(has=page.locator(".ev")).first.get_attribute("id"),
    )
    field.fill("")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("p")
    expect(page.locator("#palette [data-none]")).to_have_text(re.compile(r"^Pinned sim-"))
    expect(field).to_have_value("")
    page.keyboard.press("p")
    expect(page.locator("#palette [data-none]")).to_have_text(re.compile(r"^Unpinned sim-"))


def expect_it_fits(page: Page, options: Locator) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.get_by_role("button", name="Search or jump to").click()
    expect(options.first).to_be_visible()
    assert overflow(page) <= 0
    photograph(page, "palette-320")
    page.keyboard.press("Escape")


def test_the_palette_jumps_by_keyboard(page: Page) -> None:
    assert page.evaluate(RULES) == "[[],[]]"
    ask(page, "What is 17*23? Otters.")
    answered(page)
    chat, keys = page.url, page.keyboard
    page.goto("/history/")
    keys.press("Control+k")
    field, options = page.get_by_role("combobox", name="Search or jump to"), page.locator("#palette [role=option]")
    expect(options).to_have_count(5)
    keys.type("otters")
    expect(options).to_have_count(1)
    expect(options.locator("mark")).to_have_text("Otters")
    keys.press("Enter")
    page.wait_for_url(chat)
    ready(page)
    keys.press("Control+k")
    expect(options.first).to_contain_text("Otters")  # used last
    keys.type("391")  # in the answer only
    expect(options.filter(has_text="Otters")).to_be_visible()
    field.fill("sim-thinks")
    expect(options.filter(has_text="Switch this chat to sim-thinks").first).to_be_visible()
    expect(options.filter(has_text="Test sim-thinks").first.locator("kbd")).to_have_text("T")
    assert violations(page) == []
    photograph(page, "palette")
    expect_letters_to_act(page, field, options)
    field.fill(">offer no")
    keys.press("Enter")
    expect(page.locator("#status")).to_contain_text("Tools are off in this chat.")
    keys.press("Control+k")
    keys.type("history")
    expect(field).to_have_attribute("aria-activedescendant", re.compile("palette-page"))
    with page.context.expect_page() as opened:
        keys.press("Control+Enter")
    opened.value.wait_for_url("**/history/")
    expect_it_fits(page, options)
    switched_off(page)

"""Stacked marks and signs that turn text around change nothing beside the text that they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.hostile_server import Evil, evil_server, serving_evil, until_listed
from tests.serving import Site, new_chat, sign_in

pytestmark = pytest.mark.e2e
ABOVE, BELOW = "\u0300\u0301\u0302\u0306\u030a\u0310\u0312", "\u0316\u0323\u0325\u032d\u0330\u0331\u0333"
STACKED = "".join(letter + ABOVE * 4 + BELOW * 4 for letter in "HEL")
# Ordinary stacks: Vietnamese, Thai, Arabic, Devanagari.
ORDINARY = "Ậ Ỗ ที่นี่ ปู่ย่า اَلْعَرَبِيَّةُ क्षत्रिय ँ"
REACH = 60  # pixels around a text that are compared
ROOM = 7  # pixels that its box may paint outside, for a focus ring and ordinary marks

# Takes the rules away that keep a text inside its box.
LOOSE = "overflow: visible; contain: none; content-visibility: visible"

# The edges of the part of a text that is on the screen.
BOX = "node => { const b = node.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; }"


@pytest.fixture(scope="module")
def evil() -> Iterator[Evil]:
    with evil_server() as running:
        running.text, running.file = f"{STACKED}\n\n{ORDINARY}\n\nA\u202etxt.exe", f"H{ABOVE * 5}.txt"
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, evil: Evil) -> Iterator[Site]:
    with serving_evil(tmp_path_factory.mktemp("site"), evil) as running:
        yield running


@pytest.fixture
def chat(open_browser, site: Site, evil: Evil) -> Page:
    """A chat whose title, messages, file, result and card are full of marks."""
    with closing(sign_in(site)) as client:
        until_listed(client)
        made = new_chat(client)
    files = Path(site.directory, "workspaces", made)
    files.mkdir(parents=True, exist_ok=True)
    (files / evil.file).write_text(STACKED)
    page: Page = open_browser(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(f"/chat/{made}/")
    expect(page.locator("#chat")).to_have_attribute("data-connected", "true")
    page.locator("#picker-button").click()
    page.get_by_role("combobox", name="Search models").fill("evil-poisoned")
    expect(page.locator("#model-options [role=option]:visible")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Search models")).to_be_hidden()
    page.get_by_label("Message", exact=True).fill(STACKED)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Done")
    page.reload()
    expect(page.locator(".prose").last).to_be_visible()
    return page


def paints_outside(page: Page, text: str) -> bool:
    """Whether the pixels above or below a text change when it is hidden."""
    node = page.locator(text).last
    node.scroll_into_view_if_needed()
    x, y, width, height = node.evaluate(BOX)
    parts: list[Any] = [
        {"x": x, "y": max(0, y - REACH), "width": width, "height": max(1, min(REACH, y) - ROOM)},
        {"x": x, "y": y + height + ROOM, "width": width, "height": REACH - ROOM},
    ]
    inside = [part for part in parts if part["y"] + part["height"] < 900]
    shown = [page.screenshot(clip=part, animations="disabled", caret="hide") for part in inside]
    node.evaluate("node => { node.style.color = 'transparent'; }")
    hidden = [page.screenshot(clip=part, animations="disabled", caret="hide") for part in inside]
    node.evaluate("node => { node.style.color = ''; }")
    return shown != hidden


# SPEC 12
def test_marks_stay_in_their_text(chat: Page) -> None:
    for details in chat.locator("details.call").all():
        details.locator("summary").first.click()
    texts = (
        ".bubble",
        ".prose p:first-child",
        "#chat-title",
        "#conversations a[aria-current] .cut",
        "details.call summary",
    )
    # What a text paints outside, it paints each time; other parts of the page may change between two pictures.
    found = [text for text in texts if all(paints_outside(chat, text) for _ in range(3))]
    assert found == []
    # Without the rule the same texts paint over their neighbours.
    chat.evaluate(
        "document.querySelectorAll('*').forEach(node => { node.style.cssText = LOOSE; })".replace("LOOSE", repr(LOOSE))
    )
    assert ".prose p:first-child" in [text for text in texts if paints_outside(chat, text)]


def test_ordinary_marks_and_focus_rings_are_whole(chat: Page) -> None:
    paragraph = chat.locator(".prose p").filter(has_text="ที่นี่").last
    box = paragraph.bounding_box()
    assert box
    part: Any = {"x": box["x"], "y": box["y"] - 12, "width": box["width"], "height": box["height"] + 24}
    clipped = chat.screenshot(clip=part, animations="disabled", caret="hide")
    paragraph.evaluate("node => { node.style.overflow = 'visible'; }")
    assert chat.screenshot(clip=part, animations="disabled", caret="hide") == clipped
    # The ring of a link ends 4 pixels outside of it; boxes leave more than that.
    margins = chat.evaluate(
        "[...document.querySelectorAll('p, h1, li, summary')].map(n => getComputedStyle(n).overflowClipMargin)"
    )
    assert all(float(one.removesuffix("px")) > 4 for one in margins if one != "0px") and "0px" not in margins[:1]


def test_a_turned_text_turns_nothing_else(chat: Page) -> None:
    for text in (".bubble", ".prose p", "#chat-title", "#conversations .cut"):
        assert chat.locator(text).last.evaluate("n => getComputedStyle(n).unicodeBidi") in ("isolate", "plaintext")

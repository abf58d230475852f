"""Images in the message field: chosen, pasted, dropped, left out, sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, expect

from tests.chat.pages.test_images import HTML, PNG
from tests.e2e.conftest import answered, ask, new_chat, ready
from tests.e2e.test_access_for_all import overflow, violations

pytestmark = pytest.mark.e2e


def choose(page: Page, name: str, data: bytes = PNG) -> None:
    given: FilePayload = {"name": name, "mimeType": "image/png", "buffer": data}
    page.locator("#file").set_input_files(given)


def give(page: Page, kind: str, field: str) -> None:
    """A paste or a drop of an image, as the browser tells of it."""
    page.evaluate(
        """([kind, field, bytes]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(bytes)], `${kind}.png`, { type: "image/png" }));
          const event = kind === "paste"
            ? new ClipboardEvent(kind, { bubbles: true, cancelable: true, clipboardData: transfer })
            : new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: transfer });
          document.querySelector(field).dispatchEvent(event);
        }""",
        [kind, field, list(PNG)],
    )


# T12
def test_images_are_attached_in_three_ways_and_sent(open_browser: Callable[..., BrowserContext]) -> None:
    page = new_chat(open_browser(viewport={"width": 320, "height": 700}).new_page())
    shelf = page.locator("#attached [data-state=there]")
    choose(page, "cat.png")
    expect(shelf).to_have_count(1)
    give(page, "paste", "#text")
    expect(shelf).to_have_count(2)
    give(page, "drop", ".composer")
    expect(shelf).to_have_count(3)
    expect(page.locator("#unseen")).to_be_visible()
    assert violations(page) == [] and overflow(page) <= 0
    page.get_by_role("button", name="Remove images/paste.png").click()
    expect(shelf).to_have_count(2)
    ask(page, "What is in these?")
    answered(page)
    expect(shelf).to_have_count(0)
    message = page.locator(".message[data-role=user]").last
    expect(message.locator("img")).to_have_count(2)
    expect(message).to_contain_text("This model may not see images")
    page.reload()
    ready(page)
    expect(page.locator(".message[data-role=user] img")).to_have_count(2)
    assert violations(page) == [] and overflow(page) <= 0


# C5 T12
def test_an_edited_message_keeps_its_images(page: Page) -> None:
    choose(page, "cat.png")
    expect(page.locator("#attached [data-state=there]")).to_have_count(1)
    ask(page, "What is this?")
    answered(page)
    page.get_by_role("button", name="Edit message").click()
    expect(page.locator("#attached [data-state=there]")).to_have_count(1)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#attached [data-state=there]")).to_have_count(0)
    page.get_by_role("button", name="Edit message").click()
    ask(page, "And this?")
    answered(page)
    message = page.locator(".message[data-role=user]")
    expect(message).to_have_count(1)
    expect(message.locator("img")).to_have_attribute("alt", "images/cat.png")
    expect(page.locator("#attached [data-state=there]")).to_have_count(0)


def test_what_is_no_image_is_refused_in_its_chip(page: Page, complaints: list[str]) -> None:
    choose(page, "page.png", HTML)
    expect(page.locator("#attached [data-state=failed]")).to_contain_text("page.png is not an image")
    assert "422" in complaints.pop()  # the browser's own line about the refusal

"""A link that a modifier key opens in a new tab leaves the page as it is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("key", ["ControlOrMeta", "Shift"])
def test_a_link_with_a_modifier_key_opens_elsewhere_only(page: Page, key: str) -> None:
    page.goto("/models/1/")
    link = page.locator("#override-vision")
    with page.context.expect_page() as opened:
        link.click(modifiers=[key])  # type: ignore[list-item]
    expect(opened.value).to_have_url(re.compile(r"capability=vision"))
    expect(opened.value.get_by_role("heading", name="Override vision")).to_be_visible()
    expect(page.locator("#override")).to_be_empty()
    link.click()
    expect(page.locator("#override")).to_be_visible()

"""The sample code keeps the new key and the open sample while another model is chosen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.test_access_for_all import overflow, violations
from tests.samples import KEY

pytestmark = pytest.mark.e2e


def test_a_new_key_is_copied_in_sample_code(open_browser: Callable[..., BrowserContext]) -> None:
    context = open_browser(own=True, viewport={"width": 320, "height": 640})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/account/")
    page.get_by_label("Name of the new key").fill("laptop")
    page.get_by_role("button", name="Create key").click()
    model = page.get_by_label("Model", exact=True)
    page.get_by_text("Codex", exact=True).press("Enter")
    sample = page.locator("details", has=page.get_by_text("Codex", exact=True))
    key = KEY.findall(page.content())[0]
    other = model.locator("option:not([selected])").first.inner_text()
    model.focus()
    model.select_option(other)
    expect(sample.locator("pre").first).to_contain_text(f'model = "{other}"')
    expect(model).to_be_focused()
    expect(sample).to_have_attribute("open", "")
    sample.get_by_role("button", name="Copy").last.click()
    expect(sample.get_by_role("button", name="Copied")).to_be_visible()
    assert f"export TOOLSUPPORT_KEY={key}\ncodex exec" in page.evaluate("navigator.clipboard.readText()")
    assert (overflow(page), violations(page)) == (0, [])
